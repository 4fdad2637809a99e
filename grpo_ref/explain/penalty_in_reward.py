"""The KL penalty in the reward, as in verl and its descendants."""

from grpo_ref.arrays import TOKENS, Array, array_namespace, masked_sum
from grpo_ref.recipes import Slot


def penalized(
    rewards: Array,
    mask: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    *,
    scores: Slot,
    penalty: Slot,
    kl_coef: float,
) -> Array:
    """Subtract the KL penalty of all its tokens from each completion's reward, then compare the rewards.

        A = scores(r - kl_coef Σₜ penalty(log πold, log πref))

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      old_log_probs: (P, G, T) of the learner when the batch was sampled.
      ref_log_probs: (P, G, T) of the reference.
      scores: the part that compares rewards. It may read the mask and the lengths too.
      penalty: the estimate of the KL of each token.
      kl_coef: the weight of the penalty.

    Returns:
      (P, G) advantages.

    verl and EasyR1 `apply_kl_penalty`, SkyRL `RayPPOTrainer.apply_reward_kl_penalty`.
    """
    cost = penalty(log_probs=old_log_probs, ref_log_probs=ref_log_probs).value
    left = rewards - kl_coef * masked_sum(cost, mask, axis=TOKENS)
    lengths = array_namespace(mask).sum(mask, axis=TOKENS)
    advantages: Array = scores(rewards=left, mask=mask, lengths=lengths)
    return advantages
