"""The data records that the stages pass on: plain, immutable bundles of arrays."""

from dataclasses import dataclass
from typing import NamedTuple

from grpo_ref.arrays import Array


class Term(NamedTuple):
    """A value per token, written beside its derivative.

    The derivative has two parts, because a value can depend on the policy in two ways:

        d value / d log_probs  =  level(slope) + direct

    Attributes:
      value: (..., P, G, T) the value of each token.
      slope: the part through the (levelled) log-ratio, d value / d log_ratio. The loss pulls it back through
        the level, so a sequence ratio spreads it over the tokens of its completion.
      direct: the part through the token's own log-probability with the ratio held constant. Surrogates whose
        ratio is detached (a stop-gradient) and the KL estimators live here.
    """

    value: Array
    slope: Array | float = 0.0
    direct: Array | float = 0.0


@dataclass(frozen=True)
class Batch:
    """The inputs of a recipe's parts when the loss is computed. All log-probabilities are in nats.

    | field               | shape             | meaning                                                |
    |---------------------|-------------------|--------------------------------------------------------|
    | `log_probs`         | (..., P, G, T)    | log π of each token under the policy being trained     |
    | `old_log_probs`     | (..., P, G, T)    | the same under the policy at the start of the update   |
    | `ref_log_probs`     | (..., P, G, T)    | the same under the reference policy                    |
    | `rollout_log_probs` | (..., P, G, T)    | the same as the sampler reported it                    |
    | `log_ratio`         | (..., P, G, T)    | log_probs - old_log_probs after the recipe's level     |
    | `advantages`        | (..., P, G, T)    | constants of differentiation                           |
    | `mask`              | (..., P, G, T)    | 1 on completion tokens, the end included; 0 on padding |
    | `max_length`        |                   | the generation budget in tokens                        |
    | `entropies`         | (..., P, G, T)    | of the distribution each token was drawn from, in nats |
    | `noise`             | (..., P, G, T)    | random numbers in [0, 1)                               |
    | `top_log_probs`     | (..., P, G, T, K) | log π of the K most likely tokens                      |
    | `top_old_log_probs` | (..., P, G, T, K) | the same tokens under the old policy                   |
    | `correction`        | (..., P, G, T)    | the product of the recipe's corrections                |

    The four from `entropies` to `top_old_log_probs` are None if omitted. The loss itself fills in the
    levelled `log_ratio` and the `correction`.
    """

    log_probs: Array
    old_log_probs: Array
    ref_log_probs: Array
    rollout_log_probs: Array
    log_ratio: Array
    advantages: Array
    mask: Array
    max_length: int
    entropies: Array | None = None
    noise: Array | None = None
    top_log_probs: Array | None = None
    top_old_log_probs: Array | None = None
    correction: Array = 1.0


@dataclass(frozen=True)
class Completions:
    """Groups of sampled completions and their rewards.

    Attributes:
      prompts: (..., P) index of each prompt in the task.
      states: (..., P, G, T) automaton state in which each token was chosen.
      tokens: (..., P, G, T) the chosen tokens; 0 on padding.
      mask: (..., P, G, T) True up to and including the token that ended the completion.
      ended: (..., P, G) True where the task's automaton reached its end, with the last token of the
        budget too; False where the budget cut it off.
      components: (..., P, G, K) one reward per criterion of the task.
      rewards: (..., P, G) the weighted sum of the components.
      weights: (K,) of the components.
      max_length: the generation budget in tokens.
      step_rewards: (..., P, G, T) the reward of the step that ends at a token, for process supervision; None
        unless it was asked for.
      step_ends: (..., P, G, T) True where a step ends.
    """

    prompts: Array
    states: Array
    tokens: Array
    mask: Array
    ended: Array
    components: Array
    rewards: Array
    weights: Array
    max_length: int
    step_rewards: Array | None = None
    step_ends: Array | None = None

    @property
    def lengths(self) -> Array:
        """(..., P, G) tokens in each completion."""
        return self.mask.sum(-1)
