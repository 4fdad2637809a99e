"""The data records that the stages pass on: plain, immutable bundles of arrays.

The letters in the shapes: P is the number of prompts, G the number of completions per prompt (the group), and
T the number of tokens per completion. Shorter completions have padding at the end. The dots in (..., P, G, T)
are further axes in front, usually one, with an independent run for each seed; there may be none.
"""

from dataclasses import dataclass
from typing import NamedTuple

from grpo_ref.arrays import Array


class Term(NamedTuple):
    """A value per token, with its derivative.

    Each recipe has a level: a function that maps the token log-ratios to the log-ratios that the parts see
    (see `grpo_ref.levels`). For the sum of all values:

        d Σ value / d log_probs  =  level(slope) + direct

    Attributes:
      value: (..., P, G, T) the value of each token.
      slope: the derivative of the value with respect to log_ratio, the log-ratio after the level. The loss
        passes the slope backward through the level. If a completion has one ratio, this distributes the slope
        over the tokens of the completion.
      direct: the derivative of the value with respect to the token's own log_probs, while log_ratio is held
        constant. Surrogates with a detached ratio (a stop-gradient) and most estimators of the KL have only
        this part.
    """

    value: Array
    slope: Array | float = 0.0
    direct: Array | float = 0.0


@dataclass(frozen=True)
class Batch:
    """The inputs of a recipe's parts when the loss is computed. All log-probabilities are in nats.

    | field                   | shape             | meaning                                                |
    |-------------------------|-------------------|--------------------------------------------------------|
    | `log_probs`             | (..., P, G, T)    | log π of each token under the policy being trained     |
    | `old_log_probs`         | (..., P, G, T)    | log π under the policy at the start of the update      |
    | `ref_log_probs`         | (..., P, G, T)    | log π under the reference policy                       |
    | `rollout_log_probs`     | (..., P, G, T)    | log π as the sampler reported it                       |
    | `log_ratio`             | (..., P, G, T)    | log_probs - old_log_probs after the recipe's level     |
    | `advantages`            | (..., P, G, T)    | constant: no gradient flows through them               |
    | `mask`                  | (..., P, G, T)    | 1 on completion tokens, the end included; 0 on padding |
    | `max_length`            |                   | the generation budget in tokens                        |
    | `entropies`             | (..., P, G, T)    | entropy of the current policy at each token, in nats   |
    | `noise`                 | (..., P, G, T)    | random numbers in [0, 1)                               |
    | `top_log_probs`         | (..., P, G, T, K) | log π of the K most likely tokens                      |
    | `top_rollout_log_probs` | (..., P, G, T, K) | log π of these K tokens under the sampler              |
    | `teacher_log_probs`     | (..., P, G, T)    | log π under the teacher of a distillation              |
    | `correction`            | (..., P, G, T)    | the product of the recipe's corrections                |

    The five from `entropies` to `teacher_log_probs` are None if omitted. `batch_of` sets `log_ratio` to
    log_probs - old_log_probs. `differentiate` replaces it by the level's result, within the recipe's limits.
    The parts read this result. `differentiate` also sets `correction`.
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
    top_rollout_log_probs: Array | None = None
    teacher_log_probs: Array | None = None
    correction: Array = 1.0


@dataclass(frozen=True)
class Completions:
    """Groups of sampled completions and their rewards.

    Attributes:
      prompts: (..., P) index of each prompt in the task.
      states: (..., P, G, T) state of the task's automaton in which each token was chosen; 0 on padding.
      tokens: (..., P, G, T) the chosen tokens; 0 on padding.
      mask: (..., P, G, T) True up to and including the token that ended the completion.
      ended: (..., P, G) True if the completion ended by itself, even exactly on the last token of the budget.
        False if the budget cut the completion off.
      components: (..., P, G, C) one reward per criterion of the task.
      rewards: (..., P, G) the weighted sum of the components.
      weights: (C,) the weight of each component.
      max_length: the generation budget in tokens.
      step_rewards: (..., P, G, T) the reward of the step that ends at a token, for process supervision. None
        unless the recipe reads it.
      step_ends: (..., P, G, T) True where a step ends.
      greedy_rewards: (..., P, G) reward of the greedy completion of the same prompt. None unless the recipe
        reads it.
      score_norms: (..., P, G, T) squared norm of each token's score. None unless the recipe reads it.
      turn_ids: (..., P, G, T) number of the policy's turn from 0, and -1 on padding. None unless the recipe
        reads it.
      turn_rewards: (..., P, G, K) the reward after each turn.
      anchor_states: (..., P, G, K) an integer for the state in which a turn began.
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
    greedy_rewards: Array | None = None
    score_norms: Array | None = None
    turn_ids: Array | None = None
    turn_rewards: Array | None = None
    anchor_states: Array | None = None

    @property
    def lengths(self) -> Array:
        """(..., P, G) tokens in each completion."""
        return self.mask.sum(-1)
