"""Kernels of EasyR1: a dual clip of GSPO's token form, penalties in the reward, a filter by the mean reward."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from grpo_ref.advantages.moments import whiten
from grpo_ref.arrays import BATCH, MEMBERS, TOKENS, Array, array_namespace, at_least, is_set
from grpo_ref.explain.calls import loss
from grpo_ref.explain.dialect import Call, Dialect
from grpo_ref.recipes import Slot
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


def returned_with_penalty(
    rewards: Array,
    mask: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    *,
    penalty: Slot,
    kl_coef: float,
    gamma: float = 1.0,
) -> Array:
    """Compute REINFORCE++ with a KL penalty in the reward: a token's own penalty and the discounted ones after it.

        Gₜ = γ^(last - t) r - kl_coef Σ_{u ≥ t} γ^(u - t) penalty_u,   A = (G - mean) / √(var + 1e-8)

    Args:
      rewards: (P, G), one row per prompt; each stands at the last token.
      mask: (P, G, T) 1 on completion tokens, which come first: EasyR1's masks have no holes.
      old_log_probs, ref_log_probs, penalty, kl_coef: as in `penalized`.
      gamma: algorithm.gamma, the discount per token.

    Returns:
      (P, G, T), 0 on padding; mean and variance are over the tokens of the batch.

    EasyR1 `compute_reinforce_plus_plus_outcome_advantage` after `apply_kl_penalty`.
    """
    xp = array_namespace(rewards, mask)
    present = xp.astype(is_set(mask), rewards.dtype)
    cost = penalty(log_probs=old_log_probs, ref_log_probs=ref_log_probs).value
    places = xp.arange(mask.shape[TOKENS])
    last = xp.sum(present, axis=TOKENS, keepdims=True) - 1.0
    gains = xp.where(xp.astype(places, rewards.dtype) == last, rewards[..., None], 0.0)
    gains = gains - kl_coef * xp.where(is_set(mask), cost, 0.0)
    apart = places[:, None] - places[None, :]
    discounts = xp.where(apart >= 0, gamma ** xp.astype(at_least(apart, 0), gains.dtype), 0.0)
    return whiten(xp.matmul(gains, discounts), mask, ddof=1, eps=1e-8)


def _mini_batch(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss of a mini-batch: its micro-batches' losses, weighted by their fraction of the tokens.

    Each micro-batch has the next `micro_batch_size_per_device_for_update` completions, as without
    dynamic_batching. A logged metric is the mean of the micro-batches' metrics, which are in "parts".
    """
    size, shape = dialect.settings(config).micro_batch_size_per_device_for_update, record.mask.shape
    parts = {
        name: array.reshape(-1, 1, size, *array.shape[2:])
        for name, array in vars(record).items()
        if hasattr(array, "shape")
    }
    found = loss(dialect, config, SimpleNamespace(**parts))
    shares = parts["mask"].sum(BATCH) / record.mask.sum()
    records = [
        SimpleNamespace(**{name: array[i] for name, array in parts.items()}) for i in range(len(shares))
    ]
    gradient = shares[:, None, None, None] * found["grad_logp"]
    each = [(one, loss(dialect, config, one)) for one in records]
    return {"loss": (shares * found["loss"]).sum(), "grad_logp": gradient.reshape(shape), "parts": each}


def _kept_groups(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return 1 for each group that is trained on, and 0 for the others."""
    return {"value": dialect.recipe(**config).keep(record).astype(float)}


CALLS: dict[str, Call] = {"loss of a mini-batch": _mini_batch, "kept groups": _kept_groups}
"""Calls that only EasyR1's recorded cases have."""
