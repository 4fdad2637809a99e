"""Surrogates that compare the log-ratios of a group's completions with one another: REAL and GVPO."""

from grpo_ref.arrays import GROUP, TOKENS, Array, array_namespace, at_least, is_set, masked_mean, where_mask
from grpo_ref.types import Term


def gvpo(log_ratio: Array, advantages: Array, mask: Array, *, beta: float = 0.1) -> Term:
    """Fit the differences of the log-ratios in a group to the differences of the rewards: GVPO.

        loss = 1/P Σ_groups 1/(G-1) Σᵢ eᵢ² / 2,   eᵢ = β (zᵢ - mean(z)) - Aᵢ,   z = log πθ(o) - log πold(o)

    The loss is 0 where πθ is proportional to πold exp(r/β): the solution of the reward less β times the KL to
    the old policy. On-policy z is 0, and the gradient is β times that of RLOO. Later, a completion that has
    gained what its reward asks for pushes no further. Completions without tokens do not count. The value is
    scaled so that its mean over all completions is minus the loss.

    Args:
      log_ratio: (P, G, T) after `sequence_sum_level`, in nats.
      advantages: broadcastable to (P, G, T), one per completion: the reward minus the group's mean, not
        divided by a standard deviation.
      mask: (P, G, T) 1 on completion tokens.
      beta: β > 0, weight of the KL; gvpo_beta in verl-recipe, 0.1 there.

    Returns:
      Term of two (P, G, T) arrays, for weights that average over a completion's tokens, then over
      completions.

    Raises:
      ValueError: if beta is not positive.

    Zhang et al. 2025, Group variance policy optimization (arXiv:2504.19599); verl-recipe
    `compute_policy_loss_gvpo`.
    """
    if not beta > 0.0:
        raise ValueError(f"beta: expected a number > 0, got {beta}")
    xp = array_namespace(log_ratio, advantages, mask)
    nothing = xp.zeros_like(log_ratio)
    z, wanted = (masked_mean(x + nothing, mask, axis=TOKENS, keepdims=True) for x in (log_ratio, advantages))
    present = xp.astype(xp.any(is_set(mask), axis=TOKENS, keepdims=True), z.dtype)
    error = beta * (z - masked_mean(z, present, axis=GROUP, keepdims=True)) - wanted
    scale = mask.shape[GROUP] / at_least(xp.sum(present, axis=GROUP, keepdims=True) - 1.0, 1.0)
    slope = -scale * beta * (error - masked_mean(error, present, axis=GROUP, keepdims=True))
    return Term(value=-0.5 * scale * error**2 + nothing, slope=where_mask(mask, slope + nothing))


def real(log_ratio: Array, advantages: Array, mask: Array, correction: Array, *, tau: float = 0.5) -> Term:
    """Classify the completions of a group: good ones are meant to score above 0, bad ones below 0 (REAL).

        loss = 1/P Σ_groups log(1 + Σ_bad e^(z/τ)) + log(1 + Σ_good e^(-z/τ)),   z = (1/|o|) Σₜ log rₜ

    A completion is good if A > 0. A group without both kinds counts 0. A completion without tokens, or that
    the corrections exclude, is bad with a score of 0. The value is scaled so that its mean over all
    completions is minus the loss. On-policy z is 0, and in a group with g good and b bad completions their
    slopes are G / (τ (1 + g)) and -G / (τ (1 + b)). For any ratio they are at most G / τ.

    Args:
      log_ratio: (P, G, T) after `sequence_mean_level`, in nats.
      advantages: broadcastable to (P, G, T), one per completion; only their sign counts.
      mask: (P, G, T) 1 on completion tokens.
      correction: (P, G, T) of 0 and 1, equal for all tokens of a completion.
      tau: temperature, not 0; ms-swift's real_tau, 0.5 there and in the paper.

    Returns:
      Term of two (P, G, T) arrays, for weights that average over a completion's tokens, then over
      completions.

    Raises:
      ValueError: if tau is 0.

    Rewards as labels (arXiv:2602.05630); ms-swift `loss_type="real"`.
    """
    if tau == 0.0:
        raise ValueError("tau: expected a number other than 0")
    xp = array_namespace(log_ratio, advantages, mask)
    kept = where_mask(mask, correction)
    score = masked_mean(log_ratio, kept, axis=TOKENS, keepdims=True) / tau
    good = masked_mean(advantages + xp.zeros_like(kept), kept, axis=TOKENS, keepdims=True) > 0.0
    mixed = xp.any(good, axis=GROUP, keepdims=True) & xp.any(~good, axis=GROUP, keepdims=True)
    sides = (good, -1.0), (~good, 1.0)
    parts = [_softplus_of_sum(sign * score, side) for side, sign in sides]
    loss = parts[0][0] + parts[1][0]
    present = xp.astype(xp.any(is_set(mask), axis=TOKENS, keepdims=True), score.dtype)
    size = mask.shape[GROUP]
    share = size / at_least(xp.sum(present, axis=GROUP, keepdims=True), 1.0)
    pull = xp.where(good, parts[0][1], -parts[1][1]) * (size / tau)
    nothing = xp.zeros_like(kept)
    return Term(
        value=xp.where(mixed, -loss * share, 0.0) + nothing,
        slope=xp.where(mixed & is_set(kept), pull + nothing, 0.0),
    )


def _softplus_of_sum(scores: Array, members: Array) -> tuple[Array, Array]:
    """Return log(1 + Σ e^s) over these members of a group, and its slope in each of their scores."""
    xp = array_namespace(scores)
    among = xp.where(members, scores, -xp.inf)
    top = at_least(xp.max(among, axis=GROUP, keepdims=True), 0.0)
    total = xp.exp(-top) + xp.sum(xp.exp(among - top), axis=GROUP, keepdims=True)
    return top + xp.log(total), xp.exp(among - top) / total
