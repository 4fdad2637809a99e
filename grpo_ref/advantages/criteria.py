"""Advantages from several criteria: each criterion's rewards are normalized before they are summed.

components (..., P, G, C), one reward per criterion -> (..., P, G), or (..., P, G, T)
"""

from grpo_ref.advantages.batch import batch_normalized
from grpo_ref.advantages.group import group_normalized
from grpo_ref.advantages.per_token import whitened
from grpo_ref.arrays import Array, array_namespace


def normalized_then_summed(
    components: Array, weights: Array, *, ddof: int = 1, eps: float = 1e-4, whiten: bool = True
) -> Array:
    """Each criterion is normalized in its group before the weighted sum, so that none dominates: GDPO.

        Aᵢₖ = (rᵢₖ - meanₖ) / (stdₖ + eps),   Aᵢ = Σₖ wₖ Aᵢₖ,   then (Aᵢ - mean) / (std + eps) over the batch

    If the criteria were summed first, the one with the largest std would dominate.

    Args:
      components: (P, G, C) one reward per criterion.
      weights: (C,) the weight of each criterion.
      ddof, eps: as in `group_normalized`, for both normalizations; TRL has 1 and 1e-4.
      whiten: if true, apply the last step, the normalization over all completions of the batch. TRL always
        does.

    Returns:
      (P, G). If the rewards of a criterion are equal within a group, this criterion adds 0 to the sum.

    Raises:
      ValueError: if ddof is not 0 or 1, or eps is negative.

    GDPO (arXiv:2601.05242); TRL `multi_objective_aggregation="normalize_then_sum"`. verl whitens over
    tokens, so that long completions count more.
    """
    xp = array_namespace(components, weights)
    per_criterion = xp.moveaxis(components, -1, 0)
    normalized = group_normalized(per_criterion, ddof=ddof, eps=eps)
    total = xp.sum(xp.moveaxis(normalized, 0, -1) * weights, axis=-1)
    return batch_normalized(total, ddof=ddof, eps=eps) if whiten else total


def normalized_then_whitened(
    components: Array,
    weights: Array,
    mask: Array,
    *,
    ddof: int = 1,
    eps: float = 1e-6,
    keep_singletons: bool = False,
) -> Array:
    """GDPO as verl has it: the last normalization is over tokens, so long completions count more.

        aᵢ = Σₖ wₖ (rᵢₖ - meanₖ) / (stdₖ + eps),   Aᵢₜ = (aᵢ - mean) / √(var + 1e-8)    over the tokens

    Args:
      components: (P, G, C) one reward per criterion.
      weights: (C,) the weight of each criterion.
      mask: (P, G, T) 1 on completion tokens.
      ddof, eps: of the normalization in the group; 1 and 1e-6 in verl, which computes in float32.
      keep_singletons: as in `group_normalized`, for each criterion.

    Returns:
      (P, G, T), 0 on padding.

    GDPO (arXiv:2601.05242); verl `compute_gdpo_outcome_advantage`.
    """
    xp = array_namespace(components, weights)
    per_criterion = xp.moveaxis(components, -1, 0)
    normalized = group_normalized(per_criterion, ddof=ddof, eps=eps, keep_singletons=keep_singletons)
    total = xp.sum(xp.moveaxis(normalized, 0, -1) * weights, axis=-1)
    return whitened(total, mask, baseline=False, ddof=1, eps=1e-8)
