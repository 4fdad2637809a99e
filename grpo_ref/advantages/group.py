"""Advantages from the group alone, one per completion. The other prompts of the batch have no influence.

Aᵢ = function of the rewards r of the G completions of one prompt,    rewards (..., P, G) -> (..., P, G)
"""

import lazy_loader

from grpo_ref.advantages.moments import deviations, divisor, group_mean, reward_std, spread
from grpo_ref.arrays import MEMBERS, Array, array_namespace, at_least

statistics = lazy_loader.load("statistics")  # imported when `normal_scores` first uses it


def raw_rewards(rewards: Array) -> Array:
    """No baseline at all: the advantage is the reward, as in plain REINFORCE.

        Aᵢ = rᵢ

    Williams 1992, REINFORCE.
    """
    return rewards


def group_centered(rewards: Array, *, keep_singletons: bool = False) -> Array:
    """Reward minus the group's mean: keeps the scale of the reward, as in Dr. GRPO.

        Aᵢ = rᵢ - mean(r)

    Args:
      rewards: (P, G), one row per prompt.
      keep_singletons: if true, a group of one keeps its reward, as in verl, which sets the mean of such a
        group to 0.

    Returns:
      (P, G); each row sums to zero. A group of one gets 0, unless keep_singletons is true.

    Liu et al. 2025, Dr. GRPO (arXiv:2503.20783); TRL `scale_rewards="none"`; Open Instruct's default
    "centered".

    >>> import numpy as np
    >>> group_centered(np.array([[0.0, 1.0, 1.0, 0.0]]))
    array([[-0.5,  0.5,  0.5, -0.5]])
    """
    if keep_singletons and rewards.shape[MEMBERS] == 1:
        return rewards
    return deviations(rewards)


def group_normalized(
    rewards: Array, *, ddof: int = 1, eps: float = 1e-4, keep_singletons: bool = False
) -> Array:
    """Reward standardized within its group: GRPO's advantage.

        Aᵢ = (rᵢ - mean(r)) / (std(r) + eps),    std over the G completions of one prompt, divisor G - ddof

    The defaults are TRL's. verl uses eps=1e-6, Open Instruct ddof=0 and eps=1e-8.

    Args:
      rewards: (P, G), one row per prompt.
      ddof: 1 for the sample standard deviation (TRL, verl, RLinf, OpenRLHF), 0 for the population's (Open
        Instruct).
      eps: added to the standard deviation, in units of reward.
      keep_singletons: if true, a group of one gets r / (1 + eps), as in verl, which sets the mean of such a
        group to 0 and its std to 1. If false, it gets 0, as in TRL.

    Returns:
      (P, G); each row sums to zero. A group of one gets 0, unless keep_singletons is true. A group with equal
      rewards gets exactly 0.

    Raises:
      ValueError: if ddof is not 0 or 1, or eps is negative.

    Shao et al. 2024, DeepSeekMath, sec. 4.1.2 (arXiv:2402.03300);
    TRL `GRPOTrainer._generate_and_score_completions`, verl `compute_grpo_outcome_advantage`.

    >>> import numpy as np
    >>> group_normalized(np.array([[1.0, 0.0]]), ddof=0, eps=0.0)
    array([[ 1., -1.]])
    """
    if keep_singletons and rewards.shape[MEMBERS] == 1:
        return rewards / (1.0 + eps)
    centered = deviations(rewards)
    return centered / divisor(spread(centered, axis=MEMBERS, ddof=ddof), eps)


def leave_one_out(rewards: Array, *, keep_singletons: bool = False) -> Array:
    """Reward minus the mean of the *other* completions: an unbiased baseline.

        Aᵢ = rᵢ - 1/(G-1) Σ_{j≠i} rⱼ = G/(G-1) (rᵢ - mean(r))

    Args:
      rewards: (P, G), one row per prompt.
      keep_singletons: if true, a group of one keeps its reward, as in verl `rloo`. If false, it gets 0, as in
        verl `rloo_vectorized`.

    Returns:
      (P, G); each row sums to zero. A group of one gets 0, unless keep_singletons is true.

    Ahmadian et al. 2024, RLOO (arXiv:2402.14740); verl `compute_rloo_outcome_advantage`.

    >>> import numpy as np
    >>> leave_one_out(np.array([[1.0, 0.0, 0.0]]))
    array([[ 1. , -0.5, -0.5]])
    """
    size = rewards.shape[MEMBERS]
    if size == 1:
        return rewards if keep_singletons else array_namespace(rewards).zeros_like(rewards)
    return group_centered(rewards) * (size / (size - 1))


def greedy_baseline(rewards: Array, greedy_rewards: Array) -> Array:
    """Reward minus the reward of the greedy completion of the same prompt: ReMax.

        Aᵢ = rᵢ - r(greedy)

    The greedy completion chooses the most likely token at each place. It is not trained on, so the baseline
    does not depend on the sampled completions and needs no group. It costs one more completion per prompt.

    Args:
      rewards: (P, G), one row per prompt; G may be 1, as in the paper.
      greedy_rewards: (P, G) reward of the prompt's greedy completion, the same for the whole row.

    Returns:
      (P, G). A row need not sum to zero. Equal rewards get 0 only if the greedy completion has the same.

    Li et al. 2023, ReMax (arXiv:2310.10505); verl `compute_remax_outcome_advantage`.

    >>> import numpy as np
    >>> greedy_baseline(np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]]))
    array([[ 0., -1.]])
    """
    return rewards - greedy_rewards


def mean_scaled(
    rewards: Array, *, eps: float = 1e-6, keep_singletons: bool = False, keep_negative: bool = False
) -> Array:
    """Reward minus the group's mean, divided by that mean: MaxRL.

        Aᵢ = (rᵢ - mean(r)) / (mean(r) + eps),    0 if mean(r) <= 0

    With rewards of 0 and 1 and K > 0 of G completions right, a right completion gets G/K - 1 and a wrong one
    -1: the gradient is the mean of ∇log π over the right completions, less its mean over all. The paper aims
    at the first G terms of log p = -Σₖ (1 - p)ᵏ / k, that is at Σₖ pass@k / k. That needs -1 for each
    completion of a group with none right. The paper's code and all trainers give 0 to such a group, and
    have the first G - 1 terms in expectation.

    Args:
      rewards: (P, G), one row per prompt; meant for rewards that are not negative.
      eps: added to the mean, in units of reward. The authors' code and SkyRL have 1e-6, prime-rl and the
        paper have 0.
      keep_singletons: if true, a group of one keeps its reward, as in SkyRL. If false, it gets 0, as in
        prime-rl. The authors' code gives it r / eps.
      keep_negative: if true, a negative mean is a divisor too, as in SkyRL and the authors' code. The worst
        completion of such a group has the highest advantage. If false, the group gets 0, as in prime-rl.

    Returns:
      (P, G); each row sums to zero. A group of one gets 0, unless keep_singletons is true. A group with equal
      rewards gets exactly 0.

    Raises:
      ValueError: if eps is negative.

    Tajwar et al. 2026, Maximum likelihood reinforcement learning (arXiv:2602.02710); prime-rl
    `MaxRLAlgorithm` (#2778), SkyRL `compute_maxrl_advantage`.

    >>> import numpy as np
    >>> mean_scaled(np.array([[1.0, 0.0, 0.0, 0.0]]), eps=0.0)
    array([[ 3., -1., -1., -1.]])
    """
    if not eps >= 0.0:
        raise ValueError(f"eps: expected a number >= 0, got {eps}")
    if keep_singletons and rewards.shape[MEMBERS] == 1:
        return rewards
    xp = array_namespace(rewards)
    mean = group_mean(rewards)
    scale = mean + eps
    counts = (scale != 0.0) if keep_negative else (mean > 0.0)
    return xp.where(counts, deviations(rewards) / xp.where(counts, scale, 1.0), 0.0)


def length_weighted(rewards: Array, lengths: Array, *, keep_singletons: bool = True) -> Array:
    """Reward minus a baseline: the mean in which each completion counts by its length (OPO).

        Aᵢ = rᵢ - Σⱼ |oⱼ| rⱼ / Σⱼ |oⱼ|

    OPO derives this baseline as the one of least variance, assuming that the squared norm of a completion's
    gradient is proportional to its length.

    Args:
      rewards: (P, G), one row per prompt.
      lengths: (P, G) tokens of each completion; an empty one does not enter the baseline.
      keep_singletons: if true, a group of one keeps its reward, as in verl. If false, it gets 0.

    Returns:
      (P, G). A group of two or more whose completions are all empty keeps its rewards.

    Hao et al. 2025, OPO (arXiv:2505.23585); verl `compute_opo_outcome_advantage`.
    """
    xp = array_namespace(rewards, lengths)
    if rewards.shape[MEMBERS] == 1:
        return rewards if keep_singletons else xp.zeros_like(rewards)
    lengths = xp.astype(lengths, rewards.dtype)
    total = xp.sum(lengths, axis=MEMBERS, keepdims=True)
    return rewards - xp.sum(lengths * rewards, axis=MEMBERS, keepdims=True) / at_least(total, 1.0)


def ranked(rewards: Array, *, largest: float = 2.0) -> Array:
    """Ranks instead of rewards: only the order of the rewards in the group counts.

        Aᵢ = a (1 - 2 (rankᵢ - 1) / (G - 1)),   rank 1 the best; equal rewards share the mean of their ranks

    How ties are ranked is our choice: the mean rank keeps the sum at 0 and gives 0 to a group with equal
    rewards.

    Args:
      rewards: (P, G), one row per prompt.
      largest: a, the advantage of the best, > 0; 2 in the paper, 1 in a book chapter on GRPO (2026, not
        public).

    Returns:
      (P, G) between -a and a; each row sums to zero. A group of one gets 0.

    Raises:
      ValueError: if largest is not positive.

    Choi et al. 2026, GOPO (arXiv:2602.03876), its rank-based advantage. The authors' code implements it; none
    of the trainers compared here does.

    >>> import numpy as np
    >>> ranked(np.array([[0.1, 30.0, 0.2]]))
    array([[-2.,  2.,  0.]])
    """
    if not largest > 0.0:
        raise ValueError(f"largest: expected a number > 0, got {largest}")
    # wins - losses = G + 1 - 2 rank, also with ties, so this is the formula above.
    return largest * _wins_minus_losses(rewards) / max(rewards.shape[MEMBERS] - 1, 1)


def normal_scores(rewards: Array) -> Array:
    """Ranks as quantiles of the normal distribution.

    Only the order counts; steps between neighbouring ranks are largest near the best and the worst.

        Aᵢ = quantile(1 - (rankᵢ - 1/2) / G),   rank 1 the best; equal rewards share the mean of their ranks

    Args:
      rewards: (P, G), one row per prompt.

    Returns:
      (P, G), quantiles of the standard normal distribution. A group with equal rewards gets 0, and a row
      without ties sums to zero.

    Van der Waerden 1952; "quantile normalization" in a book chapter on GRPO (2026, not public), sec. 7.5.12.

    >>> import numpy as np
    >>> normal_scores(np.array([[0.1, 30.0, 0.2]])).round(3)
    array([[-0.967,  0.967,  0.   ]])
    """
    xp = array_namespace(rewards)
    size = rewards.shape[MEMBERS]
    # wins - losses = G + 1 - 2 rank is an integer from 1 - G to G - 1, also with ties. So there are 2 G - 1
    # possible quantiles, and wins - losses + G - 1 is the index of a completion's quantile.
    quantiles = [
        statistics.NormalDist().inv_cdf((index + 1.0) / (2.0 * size)) for index in range(2 * size - 1)
    ]
    table = xp.stack([xp.full_like(rewards[..., 0], quantile) for quantile in quantiles], axis=-1)
    index = xp.astype(_wins_minus_losses(rewards) + (size - 1.0), xp.int64)
    return xp.take_along_axis(table, index, axis=-1)


def _wins_minus_losses(rewards: Array) -> Array:
    """(P, G) number of completions of the group with a lower reward, minus the number with a higher one."""
    xp = array_namespace(rewards)
    own, other = rewards[..., :, None], rewards[..., None, :]
    return xp.sum(xp.astype(own > other, rewards.dtype) - xp.astype(own < other, rewards.dtype), axis=-1)


def best_of_group(rewards: Array, *, ddof: int = 1, eps: float = 1e-6, scale: bool = True) -> Array:
    """Only the best completion is rewarded, by its lead over the second best: trains pass@k.

        A_best = (r_max - r_second) / (std(r) + eps),    A = 0 for all others

    Args:
      rewards: (P, G), one row per prompt, G >= 2.
      ddof: as in `group_normalized`.
      eps: added to the standard deviation, in units of reward.
      scale: if true, divide the lead by the standard deviation.

    Returns:
      (P, G), not negative; a tie for the best gives 0 everywhere.

    Raises:
      ValueError: if a group has fewer than two completions, ddof is not 0 or 1, or eps is negative.

    Tang et al. 2025, pass@k (arXiv:2503.19595); verl `compute_grpo_passk_outcome_advantage`.
    """
    if rewards.shape[MEMBERS] < 2:
        raise ValueError(
            f"rewards: a lead over the second best needs groups of at least 2, got shape {rewards.shape}"
        )
    xp = array_namespace(rewards)
    ordered = xp.sort(rewards, axis=MEMBERS)
    lead = ordered[..., -1:] - ordered[..., -2:-1]
    scores = lead / divisor(reward_std(rewards, axis=MEMBERS, ddof=ddof), eps) if scale else lead
    return xp.where(rewards == ordered[..., -1:], scores, 0.0)
