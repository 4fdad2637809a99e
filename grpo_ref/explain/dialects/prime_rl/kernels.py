"""Kernels of prime-rl: a mask on the change of probability, a pull to the sampler, and filters of the batch."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.advantages import group_centered
from grpo_ref.arrays import MEMBERS, Array, array_namespace, at_least
from grpo_ref.explain.dialects.prime_rl.keys import PENALTY, WEIGHTS
from grpo_ref.recipes import Slot
from grpo_ref.surrogates.divergence import probability_change
from grpo_ref.types import Term

NO_RANGE: tuple[float, float] = (0.0, 0.0)
"""The default of a gate: a group is rejected if all of its advantages are 0."""


def probability_gated(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    *,
    low: float = 0.2,
    high: float = 0.2,
    scale: float = 1.0,
    pull: float = 1e-3,
) -> Term:
    """Use the ratio to the sampler without a limit, on tokens whose probability changed little, and a pull back to 1.

        sₜ = scale A rₜ [kept] - pull (log rₜ)²
        left out:  A > 0 and πθ - πold > high,    A <= 0 and πold - πθ > low

    An excluded token is still pulled back. The old log-probabilities are the sampler's, and there is no other
    reference.

    Args:
      log_ratio: (P, G, T) log πθ - log πold, token by token, in nats.
      log_probs: (P, G, T) log πθ, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      low, high: thresholds in probability, dppo_mask_low and dppo_mask_high, >= 0.
      scale: adv_tau.
      pull: kl_tau, >= 0.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ; NaN if a token with an infinite ratio is excluded.

    prime-rl `default_loss_fn`.
    """
    moved = probability_change(log_ratio, log_probs)
    xp = array_namespace(moved, advantages)
    left_out = xp.where(advantages > 0.0, moved > high, moved < -low)
    return _pulled(log_ratio, scale * advantages, ~left_out, pull)


def unless_fallen(
    log_ratio: Array, log_probs: Array, advantages: Array, *, most: float = 0.2, pull: float = 1e-3
) -> Term:
    """Apply `probability_gated` to tokens whose probability has not fallen much, whatever their advantage.

        sₜ = A rₜ [πold - πθ <= most] - pull (log rₜ)²

    Args:
      log_ratio, log_probs, advantages, pull: as in `probability_gated`.
      most: in probability, 0.2 in prime-rl.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ.

    prime-rl `ref_kl_loss_fn`.
    """
    return _pulled(log_ratio, advantages, probability_change(log_ratio, log_probs) >= -most, pull)


def symmetrically_gated(
    log_ratio: Array,
    log_probs: Array,
    advantages: Array,
    *,
    threshold: float = 0.1,
    scale: float = 1.0,
    pull: float = 1e-3,
) -> Term:
    """Apply `probability_gated` with one threshold for changes of probability in both directions.

        sₜ = scale A rₜ [|πθ - πold| <= threshold] - pull (log rₜ)²

    Args:
      log_ratio, log_probs, advantages, scale, pull: as in `probability_gated`.
      threshold: in probability, ipo_threshold, >= 0.

    Returns:
      Term of two (P, G, T) arrays: sₜ and ∂sₜ/∂log_ratioₜ.

    prime-rl `ipo_loss_fn`.
    """
    left_out = abs(probability_change(log_ratio, log_probs)) > threshold
    return _pulled(log_ratio, scale * advantages, ~left_out, pull)


def _pulled(log_ratio: Array, advantages: Array, kept: Array, pull: float) -> Term:
    """Apply the gate and the pull. As in prime-rl, 0 times infinity is NaN."""
    xp = array_namespace(log_ratio, advantages)
    gain = xp.astype(kept, log_ratio.dtype) * advantages * xp.exp(log_ratio)
    return Term(value=gain - pull * log_ratio**2, slope=gain - 2.0 * pull * log_ratio)


def length_penalized(rewards: Array, lengths: Array, *, output: float = 0.25) -> Array:
    """Reduce the reward of longer completions, in units of the group's mean reward.

        A = r' - mean(r'),    r' = r - mean(r) output |o| / max |o|

    This is for one turn, where the terms for the input and for turns are equal within a group and cancel. For
    several turns see `length_penalized_turns`.

    Args:
      rewards: (P, G), one row per prompt.
      lengths: (P, G) tokens of each completion.
      output: length_penalty.num_output_tokens_weight, >= 0.

    Returns:
      (P, G) advantages; each row sums to zero.

    prime-rl `GRPOAlgorithm`.
    """
    return penalized_by_shares(rewards, output * shares_of_largest(rewards, lengths))


def length_weights(settings: Mapping[str, Any]) -> dict[str, float]:
    """Return the weights of the length penalty, under the names of the kernel's arguments; {} without a penalty."""
    if all(settings[f"{PENALTY}{name}"] is None for name in ("type", *WEIGHTS)):
        return {}
    told = [(settings[f"{PENALTY}{name}"], default) for name, default in WEIGHTS.items()]
    values = (default if value is None else value for value, default in told)
    return dict(zip(("output", "given", "turn"), values, strict=True))


def shares_of_largest(rewards: Array, counts: Array) -> Array:
    """Divide counts by the group's largest, which is at least 1, (P, G)."""
    xp = array_namespace(rewards, counts)
    counts = xp.astype(counts, rewards.dtype)
    return counts / at_least(xp.max(counts, axis=MEMBERS, keepdims=True), 1.0)


def penalized_by_shares(rewards: Array, shares: Array) -> Array:
    """Subtract shares of the group's mean reward from the rewards, and center them in the group, (P, G)."""
    mean = array_namespace(rewards).mean(rewards, axis=MEMBERS, keepdims=True)
    return group_centered(rewards - mean * shares)


def of_any_advantage(rewards: Array, lengths: Array, *, scores: Slot) -> Array:
    """Remove completions with an advantage of exactly 0 from the batch and from its denominator.

        admit = A ≠ 0

    Args:
      rewards: (P, G), one row per prompt.
      lengths: (P, G) tokens of each completion.
      scores: the advantage.

    Returns:
      (P, G) True for completions that are trained on. prime-rl takes the mean in float32, where rounding may
      keep a group of equal rewards.

    prime-rl `_prune_zero_advantages`.
    """
    return scores(rewards=rewards, lengths=lengths) != 0.0


def gated_groups(
    rewards: Array, lengths: Array, *, scores: Slot, ranges: tuple[tuple[float, float], ...] = (NO_RANGE,)
) -> Array:
    """Resample a group if all of its advantages lie in one of these ranges.

        keep = not (low <= A <= high for all of the group),    for each range

    Args:
      rewards, lengths, scores: as in `of_any_advantage`.
      ranges: reject_min and reject_max of each gate, both included.

    Returns:
      (P,) True for groups that are kept.

    prime-rl `AdvRangeGate`.
    """
    xp = array_namespace(rewards)
    advantages = scores(rewards=rewards, lengths=lengths)
    keep = xp.ones(advantages.shape[:-1], dtype=xp.bool)
    for low, high in ranges:
        keep = keep & ~xp.all((advantages >= low) & (advantages <= high), axis=MEMBERS)
    return keep
