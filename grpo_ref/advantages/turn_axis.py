"""Arithmetic over the turns of an episode, which the kernels of `turns` and of trainers share.

An episode is a completion of several turns: the policy writes, the environment answers, and the policy writes
again. `turn_ids` (..., P, G, T) numbers the turns of the policy from 0 and is -1 on every other token. Arrays
with one value per turn are (..., P, G, K); entries of turns that an episode does not have are ignored.
"""

from typing import NamedTuple

from grpo_ref.advantages.moments import divisor
from grpo_ref.arrays import Array, array_namespace, at_least


class Scaling(NamedTuple):
    """The divisor of a value minus the mean of its group.

    Attributes:
      divides: if true, divide by the standard deviation plus eps.
      ddof, eps: of the standard deviation, as in `group_normalized`.
      keep_singletons: if true, a value that is alone in its group is divided by 1 + eps, as if the mean were
        0 and the std 1. If false, it becomes 0.
    """

    divides: bool
    ddof: int
    eps: float
    keep_singletons: bool = False


def taken_turns(turn_ids: Array, turns: int) -> Array:
    """Return (..., P, G, K) True for the turns in which an episode has at least one token."""
    xp = array_namespace(turn_ids)
    return xp.any(_belongs(turn_ids, turns), axis=-2)


def to_tokens(values: Array, turn_ids: Array) -> Array:
    """Give each token the value of its turn.

    Args:
      values: (..., P, G, K) one per turn.
      turn_ids: (..., P, G, T).

    Returns:
      (..., P, G, T), exactly 0 where the turn id is -1.
    """
    xp = array_namespace(values, turn_ids)
    belongs = _belongs(turn_ids, values.shape[-1])
    return xp.sum(xp.where(belongs, values[..., None, :], 0.0), axis=-1)


def discounted_returns(turn_rewards: Array, taken: Array, *, gamma: float) -> Array:
    """Return the discounted sum of the rewards from each turn to the last one.

        R_k = Σₗ γ^(l - k) rₗ    over the turns l = k, k + 1, ...

    Args:
      turn_rewards: (..., P, G, K).
      taken: (..., P, G, K) True for the turns of the episode.
      gamma: discount per turn, 0 <= gamma <= 1.

    Returns:
      (..., P, G, K).

    Raises:
      ValueError: if gamma is out of range.
    """
    check_gamma(gamma)
    xp = array_namespace(turn_rewards, taken)
    present = xp.where(taken, turn_rewards, 0.0)
    turns = xp.arange(turn_rewards.shape[-1])
    ahead = xp.astype(turns[None, :] - turns[:, None], present.dtype)
    discounts = xp.where(ahead >= 0.0, gamma ** at_least(ahead, 0.0), 0.0)
    return xp.sum(xp.astype(discounts, present.dtype) * present[..., None, :], axis=-1)


def normalized_among_equals(values: Array, ids: Array, present: Array, scaling: Scaling) -> Array:
    """Compare each value with the mean of the values that have the same id.

    Args:
      values, ids: (..., N).
      present: (..., N) True for the values that take part.
      scaling: what to divide by.

    Returns:
      (..., N), 0 where a value does not take part. Equal values with the same id give exactly 0.

    Raises:
      ValueError: if ddof is not 0 or 1, or eps is negative.
    """
    divides, ddof, eps, keep_singletons = scaling
    if ddof not in (0, 1):
        raise ValueError(f"ddof: expected 0 (population) or 1 (sample), got {ddof}")
    xp = array_namespace(values, ids, present)
    values = xp.where(present, values, 0.0)
    others = values[..., None, :]
    together = (ids[..., :, None] == ids[..., None, :]) & present[..., None, :]
    weights = xp.astype(together, values.dtype)
    count = at_least(xp.sum(weights, axis=-1), 1.0)
    # The mean of equal numbers can have a rounding error, so equal numbers need a case of their own.
    equal = xp.all(~together | (others == values[..., :, None]), axis=-1)
    mean = xp.sum(weights * others, axis=-1) / count
    centered = xp.where(present & ~equal, values - mean, 0.0)
    variance = xp.sum(weights * centered[..., None, :] ** 2, axis=-1) / at_least(count - ddof, 1.0)
    scales = divisor(xp.sqrt(variance), eps)
    if keep_singletons:
        alone = present & (count == 1.0)
        centered, scales = xp.where(alone, values, centered), xp.where(alone, 1.0 + eps, scales)
    return centered / scales if divides else centered


def check_gamma(gamma: float) -> None:
    """Raise a ValueError unless 0 <= gamma <= 1."""
    if not 0.0 <= gamma <= 1.0:
        raise ValueError(f"gamma: expected 0 <= gamma <= 1, got {gamma}")


def check_turns(turn_ids: Array, **per_turn: Array) -> None:
    """Raise a ValueError unless there is one value for each turn of each episode.

    The ids are checked only in NumPy arrays, because a GPU would have to wait for the host.

    Args:
      turn_ids: (..., P, G, T).
      per_turn: arrays (..., P, G, K) by name.
    """
    xp = array_namespace(turn_ids, *per_turn.values())
    for name, array in per_turn.items():
        if tuple(array.shape[:-1]) != tuple(turn_ids.shape[:-1]):
            raise ValueError(
                f"{name}: expected shape {tuple(turn_ids.shape[:-1])} and one axis of turns,"
                f" got {tuple(array.shape)}"
            )
        if xp.__name__ == "numpy" and bool(xp.any(turn_ids >= array.shape[-1])):
            raise ValueError(
                f"turn_ids: expected -1 to {array.shape[-1] - 1}, because {name} has {array.shape[-1]} turns,"
                f" got {int(xp.max(turn_ids))}"
            )


def _belongs(turn_ids: Array, turns: int) -> Array:
    """Return (..., P, G, T, K) True where a token belongs to a turn."""
    xp = array_namespace(turn_ids)
    return turn_ids[..., None] == xp.astype(xp.arange(turns), turn_ids.dtype)
