"""TRL's advantages if reward functions return None: the other scores of a completion still count."""

from collections.abc import Callable

from grpo_ref.advantages import batch_scaled, group_centered, group_normalized
from grpo_ref.advantages.moments import divisor, masked_moments
from grpo_ref.arrays import COMPLETIONS, MEMBERS, Array, array_namespace, masked_sum, where_mask


def scored_normalized(rewards: Array, *, ddof: int = 1, eps: float = 1e-4) -> Array:
    """Compute `group_normalized` for groups with completions that could not be scored, marked by NaN.

        Aᵢ = (rᵢ - mean(r)) / (std(r) + eps)    over the scored completions of the group, 0 for the others

    Args:
      rewards: (P, G), one row per prompt; NaN where no reward function returned a score.
      ddof, eps: as in `group_normalized`.

    Returns:
      (P, G); 0 for groups with fewer than two scored completions.

    TRL `GRPOTrainer._generate_and_score_completions`, rewards of None.
    """
    xp = array_namespace(rewards)
    scored = ~xp.isnan(rewards)
    mean, variance = masked_moments(rewards, scored, axis=MEMBERS, ddof=ddof)
    enough = xp.count_nonzero(scored, axis=MEMBERS, keepdims=True) > 1
    return where_mask(scored & enough, (rewards - mean) / divisor(xp.sqrt(variance), eps))


def scored_centered(rewards: Array) -> Array:
    """Compute `group_centered` over the scored completions of each group. Others, marked by NaN, get 0.

        Aᵢ = rᵢ - mean(r)

    Args:
      rewards: (P, G), one row per prompt; NaN where no reward function returned a score.
    """
    scored = ~array_namespace(rewards).isnan(rewards)
    mean, _ = masked_moments(rewards, scored, axis=MEMBERS, ddof=0)
    return where_mask(scored, rewards - mean)


def scored_batch_scaled(rewards: Array, *, ddof: int = 1, eps: float = 1e-4) -> Array:
    """Compute `batch_scaled` over the scored completions. Others, marked by NaN, get 0.

        Aᵢ = (rᵢ - mean(r)) / (std + eps),    the mean of the group, the std of all scored completions

    Args:
      rewards: (P, G), one row per prompt; NaN where no reward function returned a score.
      ddof, eps: as in `batch_scaled`.

    Returns:
      (P, G), all 0 if fewer than two completions are scored.
    """
    xp = array_namespace(rewards)
    scored = ~xp.isnan(rewards)
    _, variance = masked_moments(rewards, scored, axis=COMPLETIONS, ddof=ddof)
    enough = xp.count_nonzero(scored, axis=COMPLETIONS, keepdims=True) > 1
    return where_mask(scored & enough, scored_centered(rewards) / divisor(xp.sqrt(variance), eps))


def scored_then_summed(components: Array, weights: Array, *, ddof: int = 1, eps: float = 1e-4) -> Array:
    """Compute `normalized_then_summed` over the scores that exist, function by function.

    NaN marks the others.

        Aᵢ = (sᵢ - mean(s)) / (std(s) + eps),    s = Σₖ wₖ (rₖ - mean(rₖ)) / (std(rₖ) + eps)

    Args:
      components: (P, G, C) one reward per function, NaN for None.
      weights: (C,) weights of the functions.
      ddof, eps: as in `normalized_then_summed`.

    Returns:
      (P, G); 0 for completions that no function has scored.
    """
    sums = scored_normalized_sum(components, weights, ddof=ddof, eps=eps)
    xp = array_namespace(sums)
    scored = ~xp.isnan(sums)
    mean, variance = masked_moments(sums, scored, axis=COMPLETIONS, ddof=ddof)
    return where_mask(scored, (sums - mean) / divisor(xp.sqrt(variance), eps))


def scored_normalized_sum(components: Array, weights: Array, *, ddof: int = 1, eps: float = 1e-4) -> Array:
    """Return the sums s of `scored_then_summed`, before they are normalized over the batch.

    Args:
      components, weights, ddof, eps: as in `scored_then_summed`.

    Returns:
      (P, G), NaN where no function returned a score.
    """
    xp = array_namespace(components)
    normalized = [
        scored_normalized(components[..., k], ddof=ddof, eps=eps) for k in range(components.shape[-1])
    ]
    sums = xp.sum(xp.stack(normalized, axis=-1) * weights, axis=-1)
    return xp.where(xp.all(xp.isnan(components), axis=-1), xp.nan, sums)


def scored_sum(components: Array) -> Array:
    """Sum the rewards of the functions that returned a score.

    Args:
      components: (P, G, C) one reward per function, NaN for None.

    Returns:
      (P, G), NaN where no function returned a score.
    """
    xp = array_namespace(components)
    scored = ~xp.isnan(components)
    total = masked_sum(components, scored, axis=-1)
    return xp.where(xp.any(scored, axis=-1), total, xp.nan)


SCORED: dict[Callable[..., Array], Callable[..., Array]] = {
    group_normalized: scored_normalized,
    group_centered: scored_centered,
    batch_scaled: scored_batch_scaled,
}
"""Kernels of the advantages, each with the kernel that TRL uses if completions are not scored."""
