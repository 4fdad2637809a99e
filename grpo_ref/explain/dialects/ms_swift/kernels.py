"""Kernels of ms-swift for rewards, and calls that only its recorded cases have."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.advantages import batch_normalized, group_centered, normalized_then_summed
from grpo_ref.advantages.moments import divisor, masked_moments, reward_std
from grpo_ref.arrays import COMPLETIONS, MEMBERS, Array, array_namespace, at_least
from grpo_ref.explain import calls
from grpo_ref.explain.dialect import Call, Dialect
from grpo_ref.explain.dialects.common.calls import kept_groups, shaped_rewards
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


def advantages(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the advantages.

    A missing reward (None, here NaN) counts as 0 in a sum, and is excluded with gdpo.

    Args:
      dialect: dialect of ms-swift.
      config: configuration in its keys.
      record: rewards (P, G), or components (P, G, C) with weights (C,); mask (P, G, T).

    Returns:
      "value" (P, G), and "rewards" (P, G).
    """
    components, weights = functions(record)
    part = dialect.recipe(**config).advantage
    rewards = (np.nan_to_num(components, nan=0.0) * weights).sum(-1)
    if part.kernel is normalized_then_summed and np.isnan(components).any():
        return {"value": _of_what_is_scored(components, weights), "rewards": rewards}
    fields = {"components": components, "weights": weights, "rewards": rewards}
    return calls.advantages(dialect, config, SimpleNamespace(**vars(record) | fields)) | {"rewards": rewards}


def functions(record: SimpleNamespace) -> tuple[Array, Array]:
    """Return the score of each reward function, (P, G, C), and its weight, (C,).

    A plain sum counts as one function.
    """
    if hasattr(record, "components"):
        return record.components, record.weights
    return record.rewards[..., None], np.ones(1, dtype=record.rewards.dtype)


def _of_what_is_scored(components: Array, weights: Array) -> Array:
    """Compute gdpo's advantages with missing scores: each function compares only the scores it gave; others add 0."""
    scored = ~np.isnan(components)
    mean, variance = masked_moments(components, scored, axis=-2, ddof=1)
    enough = scored & (np.count_nonzero(scored, axis=-2, keepdims=True) > 1)
    scores = np.where(enough, (components - mean) / at_least(np.sqrt(variance) + SMALL, SMALL), 0.0)
    return batch_normalized((scores * weights).sum(-1), ddof=1, eps=SMALL)


def _loss_of_admitted(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss over the completions that the recipe admits, if some were truncated."""
    fields = {"rewards": record.ended} | vars(record)
    admitted = dialect.recipe(**config).admit(SimpleNamespace(**fields))
    mask = record.mask * admitted[..., None]
    kept = SimpleNamespace(**vars(record) | {"mask": mask})
    return calls.loss(dialect, config, kept) | {"admitted": mask}


CALLS: dict[str, Call] = {
    "advantages": advantages,
    "shaped rewards": shaped_rewards,
    "kept groups": kept_groups,
    "loss of what is admitted": _loss_of_admitted,
}
"""Calls of ms-swift's recorded cases that other trainers' cases do not have, or that differ there."""
