"""Kernels of EasyR1: a dual clip of GSPO's token form, penalties in the reward, a filter by the mean reward."""

from grpo_ref.arrays import MEMBERS, Array, array_namespace
from grpo_ref.surrogates import dual_clipped
from grpo_ref.types import Term

LARGEST = 20.0
"""The log-ratio is limited to ± this before exp. Beyond the limit its slope is 0."""


def dual_clipped_per_token(
    log_ratio: Array,
    advantages: Array,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.3,
    max_ratio: float = 3.0,
) -> Term:
    """Apply the dual clip to GSPO's token form: the completion's ratio, with a separate gradient for each token.

        s = dual_clipped(z, A),   z = sg[mean log-ratio] + log πθ(t) - sg[log πθ(t)]

    Args:
      log_ratio: (P, G, T) after `sequence_mean_level`, in nats.
      advantages: broadcastable to (P, G, T); constant with respect to θ.
      clip_low, clip_high, max_ratio: as in `dual_clipped`.

    Returns:
      Term of (P, G, T) arrays; the slope is direct, with respect to log_probs.

    EasyR1 `compute_policy_loss`, "gspo_token".
    """
    xp = array_namespace(log_ratio, advantages)
    near = xp.clip(log_ratio, -LARGEST, LARGEST)
    term = dual_clipped(near, advantages, clip_low=clip_low, clip_high=clip_high, max_ratio=max_ratio)
    return Term(value=term.value, direct=xp.where(abs(log_ratio) <= LARGEST, term.slope, 0.0))


def mean_between(rewards: Array, *, low: float = 0.01, high: float = 0.99) -> Array:
    """Keep the groups whose mean reward is strictly inside a range, whether or not their rewards differ.

        keep = low < mean(r) < high

    Args:
      rewards: (P, G), one row per prompt: the rewards that algorithm.filter_key names.
      low, high: algorithm.filter_low and algorithm.filter_high.

    Returns:
      (P,) True for groups that are kept.

    EasyR1 `RayPPOTrainer._make_batch_data`.
    """
    mean = array_namespace(rewards).mean(rewards, axis=MEMBERS)
    return (mean > low) & (mean < high)
