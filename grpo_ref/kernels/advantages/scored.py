"""Advantages where some completions could not be scored."""

from grpo_ref.arrays import MEMBERS, Array, array_namespace, where_mask
from grpo_ref.kernels.advantages.moments import divisor, masked_moments


def scored_normalized(rewards: Array, *, ddof: int = 1, eps: float = 1e-4) -> Array:
    """`group_normalized` for groups of which some completions could not be scored: NaN marks those.

        Aᵢ = (rᵢ - mean(r)) / (std(r) + eps)    over the scored completions of the group, 0 for the others

    Args:
      rewards: (P, G), one row per prompt; NaN where no reward function had anything to say.
      ddof, eps: as in `group_normalized`.

    Returns:
      (P, G); a group of which fewer than two are scored gets 0.

    TRL `GRPOTrainer._generate_and_score_completions`, rewards of None.
    """
    xp = array_namespace(rewards)
    scored = ~xp.isnan(rewards)
    mean, variance = masked_moments(rewards, scored, axis=MEMBERS, ddof=ddof)
    enough = xp.count_nonzero(scored, axis=MEMBERS, keepdims=True) > 1
    return where_mask(scored & enough, (rewards - mean) / divisor(xp.sqrt(variance), eps))
