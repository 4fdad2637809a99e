"""Kernels of understand-r1-zero: a reward of 0 for truncated completions, and a KL in the completion's reward."""

from grpo_ref.arrays import TOKENS, Array, array_namespace, is_set, masked_sum
from grpo_ref.recipes import Slot


def zero_if_cut_off(rewards: Array, ended: Array, *, scale: float = 1.0) -> Array:
    """Scale the rewards, and set those of truncated completions to 0.

        scale r where the completion ended, 0 elsewhere

    Args:
      rewards: (P, G).
      ended: (P, G) True where the completion ended by itself.
      scale: reward_scale.

    Returns:
      (P, G) rewards.

    understand-r1-zero `ZeroMathActor.step`, then oat `PPOLearner.learning_step`.
    """
    return array_namespace(rewards, ended).where(is_set(ended), scale * rewards, 0.0)


def penalized(
    rewards: Array,
    mask: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    *,
    scores: Slot,
    kl_coef: float,
) -> Array:
    """Subtract the summed log-ratio to the reference from a completion's reward, before the rewards are compared.

        A = scores(r - kl_coef Σₜ (log πold - log πref))

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      old_log_probs, ref_log_probs: (P, G, T) in nats, of the learner when the batch was sampled and of the
        reference.
      scores: the part that compares the rewards of a group, (P, G) -> (P, G).
      kl_coef: kl_penalty_coef.

    Returns:
      (P, G) advantages.

    oat `PPOLearner.learning_step`.
    """
    apart = masked_sum(old_log_probs - ref_log_probs, mask, axis=TOKENS)
    return scores(rewards=rewards - kl_coef * apart)
