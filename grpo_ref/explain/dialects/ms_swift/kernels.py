"""Kernels of ms-swift for rewards, and calls that only its recorded cases have."""

from grpo_ref.advantages import group_centered
from grpo_ref.advantages.moments import divisor, reward_std
from grpo_ref.arrays import COMPLETIONS, MEMBERS, Array, array_namespace
from grpo_ref.explain.dialects.ms_swift.losses import summed_kl
from grpo_ref.recipes import Slot

EPS, SMALL = 1e-4, 1e-8
"""The eps of a standard deviation, and the eps for each reward function with gdpo."""


def scaled_up(rewards: Array, *, scores: Slot) -> Array:
    """Scale advantages as if the baseline were the mean of the other completions, like `leave_one_out` with a spread.

        A = G / (G - 1) scores(r)

    Args:
      rewards: (P, G), one row per prompt.
      scores: the part that compares a group and divides, (P, G) -> (P, G).

    Returns:
      (P, G) advantages.

    ms-swift `compute_advantages`, "rloo" with scale_rewards.
    """
    size = rewards.shape[MEMBERS]
    scaled: Array = scores(rewards=rewards) * (size / (size - 1))
    return scaled


def centered_then_scaled(rewards: Array, *, eps: float = EPS) -> Array:
    """Subtract the group's mean, then divide by the spread of the differences over the whole batch.

        A = a / (std(a) + eps),   a = r - mean(r of the group)

    `batch_scaled` divides by the spread of the rewards themselves, in which the means differ.

    Args:
      rewards: (P, G), one row per prompt.
      eps: added to the standard deviation, whose divisor is P G - 1.

    Returns:
      (P, G) advantages; each row sums to zero.

    ms-swift `compute_advantages`, "reinforce_plus_plus".
    """
    left = group_centered(rewards)
    return left / divisor(reward_std(left, axis=COMPLETIONS, ddof=1), eps)


def penalized(
    rewards: Array, mask: Array, old_log_probs: Array, ref_log_probs: Array, *, scores: Slot, kl_coef: float
) -> Array:
    """Subtract a completion's KL from its reward, before the rewards of the group are compared.

        A = scores(r - kl_coef Σₜ (log πold - log πref))

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      old_log_probs, ref_log_probs: (P, G, T) in nats, of the learner when the batch was drawn, and of the
        reference.
      scores: the part that compares the rewards of a group, (P, G) -> (P, G).
      kl_coef: beta.

    Returns:
      (P, G) advantages.

    ms-swift `kl_in_reward`.
    """
    return scores(rewards=rewards - kl_coef * summed_kl(old_log_probs, ref_log_probs, mask))


def overlong(rewards: Array, lengths: Array, *, longest: float, cache: float, weight: float = 1.0) -> Array:
    """Subtract the length penalty of `soft_overlong`, in tokens and without a floor.

        r + weight min((longest - cache - |o|) / cache, 0)

    Args:
      rewards: (P, G), the weighted sum of the other reward functions.
      lengths: (P, G) tokens of each completion.
      longest: soft_max_length. Beyond it, the penalty keeps growing.
      cache: soft_cache_length.
      weight: weight of the function in reward_weights.

    Returns:
      (P, G) rewards.

    ms-swift `SoftOverlong`.
    """
    xp = array_namespace(rewards, lengths)
    return rewards + weight * xp.clip((longest - cache - lengths) / cache, None, 0.0)
