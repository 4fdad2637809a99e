"""The entropy bonus: constant, or adapted to keep the entropy near a target (TRL's adaptive entropy)."""

from grpo_ref.arrays import Floats, Integers, array_namespace
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.policies.table import Policy, entropy_gradient
from grpo_ref.recipes import Recipe


def adapted(config: TrainConfig, weight: Floats, entropy: Floats) -> tuple[Floats, Floats]:
    """Return the weight of the bonus for this batch and the weight for the next one, each (S,).

    If the entropy is at or below the target, the bonus is applied and the weight grows by one step. Otherwise
    the bonus is 0 for this batch and the weight shrinks by one step, but not below 0.

    Args:
      config: has the target, the step and the upper bound.
      weight: (S,) weight of each run's bonus so far.
      entropy: (S,) entropy of the batch, in nats per token.
    """
    xp = array_namespace(weight)
    below = entropy <= config.entropy_target
    stepped = xp.where(below, weight + config.entropy_delta, weight - config.entropy_delta)
    return xp.where(below, weight, 0.0), xp.clip(stepped, 0.0, config.entropy_max)


def bonus_gradient(
    recipe: Recipe,
    config: TrainConfig,
    policy: Policy,
    states: Integers,
    mask: Floats,
    *,
    weight: Floats,
    max_length: int,
) -> Floats:
    """Return the gradient of the entropy bonus with respect to the logits, to be subtracted from the loss's.

        bonus = weight Σ W H(state of the token)

    Args:
      recipe: gives W, the weight of each token in the loss.
      config: has the temperature.
      policy: the whole table.
      states, mask: (S, P, G, T).
      weight: (S,) weight of each run's bonus.
      max_length: the generation budget in tokens.

    Returns:
      (S, N, V).
    """
    weights = weight[:, None, None, None] * recipe.weights(mask, max_length=max_length)
    return entropy_gradient(weights, states, policy, temperature=config.temperature)
