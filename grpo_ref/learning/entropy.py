"""The entropy bonus: constant, or adapted to keep the entropy near a target (TRL's adaptive entropy)."""

from grpo_ref.arrays import Floats, Integers, array_namespace
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.policies.table import Policy, entropy_gradient
from grpo_ref.recipes import Recipe


def adapted(config: TrainConfig, weight: Floats, entropy: Floats) -> tuple[Floats, Floats]:
    """What a target makes of the weights: the one applied to this batch, and the one that the next has.

    The bonus is given only while the entropy is not above the target; the weight goes up by a step then and
    down by one else, never below 0.

    Args:
      config: has the target, the step and the upper bound.
      weight: (S,) of each run's bonus.
      entropy: (S,) of the batch, in nats per token.
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
    """The gradient of the bonus with respect to the logits: to be taken off that of the loss.

        bonus = weight Σ W H(state of the token)

    Args:
      recipe: says how much each token counts, W.
      config: has the temperature.
      policy: of the whole table.
      states, mask: (S, P, G, T).
      weight: (S,) of each run's bonus.
      max_length: the generation budget in tokens.

    Returns:
      (S, N, V).
    """
    weights = weight[:, None, None, None] * recipe.weights(mask, max_length=max_length)
    return entropy_gradient(weights, states, policy, temperature=config.temperature)
