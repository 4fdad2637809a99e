"""Kernels of Open Instruct: numbered KL estimators, a correction for the sampler, and packs."""

from collections.abc import Callable, Mapping
from math import inf
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.arrays import MEMBERS, TOKENS, Array, array_namespace, masked_mean, where_mask
from grpo_ref.corrections import indicator, truncated
from grpo_ref.explain.calls import loss
from grpo_ref.explain.dialect import Call, Dialect
from grpo_ref.levels import token_level
from grpo_ref.penalties import k1, k2, k3, weighted_k1
from grpo_ref.recipes import Slot, slot
from grpo_ref.types import Term

KL_ESTIMATORS: dict[int, Slot] = {
    0: slot(k1, max_log_ratio=40.0),
    1: slot(k2, max_log_ratio=40.0),
    2: slot(k3, max_log_ratio=40.0),
    3: slot(weighted_k1, max_log_ratio=40.0),
}
"""Estimators by the number in `kl_estimator`.

The default is 2; estimator 3 also reads the importance ratio.
"""
INVALID_LOG_PROB = 1.0
"""Replacement for a log-probability that the sampler reported as NaN: above 0, as no token's can be."""
MAX_LOG_RHO = 10.0
"""Limit of each token's |log ρ|."""


def open_instruct_kl(
    log_probs: Array,
    ref_log_probs: Array,
    log_ratio: Array,
    *,
    estimator: int = 2,
    max_log_ratio: float = 40.0,
) -> Term:
    """Apply one of Open Instruct's numbered estimators: 0 is k1, 1 is k2, 2 is k3 (the default), 3 is weighted_k1.

    Args:
      log_probs, ref_log_probs: (P, G, T) in nats; the reference is constant with respect to θ.
      log_ratio: (P, G, T) log πθ - log πold, in nats; read by estimator 3 only.
      estimator: 0, 1, 2 or 3.
      max_log_ratio: v is limited to ± this; the slope is 0 beyond it.

    Returns:
      Term of the chosen estimator.

    Raises:
      ValueError: if the estimator is not one of the four.

    Open Instruct `estimate_kl`.
    """
    if estimator not in KL_ESTIMATORS:
        raise ValueError(f"estimator: expected 0, 1, 2 or 3, got {estimator!r}")
    penalty = slot(KL_ESTIMATORS[estimator].kernel, max_log_ratio=max_log_ratio)
    term: Term = penalty(log_probs=log_probs, ref_log_probs=ref_log_probs, log_ratio=log_ratio)
    return term


def groups_with_std(rewards: Array) -> Array:
    """Keep the groups whose rewards have a standard deviation other than 0.

        keep = std(r) ≠ 0

    Rounding can keep groups of equal rewards: three rewards of 0.1 have a mean that is not exactly 0.1, and a
    std of 1e-17. The tokens of such a group count in the denominator.

    Args:
      rewards: (P, G), one row per prompt.

    Returns:
      (P,) True for groups that are kept.

    Open Instruct `process_group`.

    >>> groups_with_std(np.array([[1.0, 1.0, 1.0], [0.1, 0.1, 0.1]]))
    array([False,  True])
    """
    return array_namespace(rewards).std(rewards, axis=MEMBERS) != 0.0


# ---- the correction for the sampler ------------------------------------------------------------------


def known(rollout_log_probs: Array) -> Array:
    """Return the sampler's log-probabilities, with 1.0 instead of NaN and the lowest finite number instead of -∞.

    Args:
      rollout_log_probs: (P, G, T) in nats.

    Open Instruct `mask_logprobs`, by way of `torch.nan_to_num`.
    """
    xp = array_namespace(rollout_log_probs)
    most = xp.finfo(rollout_log_probs.dtype).max
    finite = xp.clip(rollout_log_probs, -most, most)
    return xp.where(xp.isnan(rollout_log_probs), INVALID_LOG_PROB, finite)


def rho_clamp(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    level: Callable[[Array, Array], Array] = token_level,
    min_ratio: float = 0.0,
    max_ratio: float = 2.0,
) -> Array:
    """Truncate importance weights; a token whose probability the sampler did not report gets the weight πold / e.

        w = clip(ρ, min_ratio, max_ratio),   ρ = exp(level(clip(log πold - log πrollout, ±10)))

    Where the sampler reported NaN, log πrollout is set to 1, so ρ is below 1/e there and never 1.

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats; the second may hold NaN.
      mask: (P, G, T) 1 on completion tokens.
      level: `token_level`, or `sequence_mean_level` with `rho_mask_sequence_level`.
      min_ratio, max_ratio: 0 <= min_ratio <= max_ratio.

    Returns:
      (P, G, T) weights.

    Open Instruct `compute_rho_correction`, `mask_logprobs`.
    """
    bounds = {"min_ratio": min_ratio, "max_ratio": max_ratio, "max_token_log_ratio": MAX_LOG_RHO}
    return truncated(old_log_probs, known(rollout_log_probs), mask, level=level, **bounds)


def rho_window(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    level: Callable[[Array, Array], Array] = token_level,
    min_ratio: float = 0.0,
    max_ratio: float = inf,
) -> Array:
    """Return 1 where ρ is inside the window and 0 elsewhere.

    A token that the sampler did not report has a low ρ.

        w = [min_ratio <= ρ <= max_ratio],   ρ = exp(level(clip(log πold - log πrollout, ±10)))

    Args:
      old_log_probs, rollout_log_probs, mask, level, min_ratio, max_ratio: as in `rho_clamp`.

    Returns:
      (P, G, T) of 0 and 1.

    Open Instruct `compute_rho_correction`, `mask_logprobs`.
    """
    bounds = {"min_ratio": min_ratio, "max_ratio": max_ratio, "max_token_log_ratio": MAX_LOG_RHO}
    return indicator(old_log_probs, known(rollout_log_probs), mask, level=level, **bounds)


def vaco_mask(
    old_log_probs: Array,
    rollout_log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    min_divergence: float = 0.0,
    max_divergence: float = inf,
) -> Array:
    """Exclude tokens that would move a completion, already far from the sampler, even further away (VACO).

        w = 0 where D is outside [min_divergence, max_divergence] and A log ρ > 0,    else 1
        D = mean over the completion of |ρ - 1|,   log ρ = clip(log πold - log πrollout, ±10)

    Only Open Instruct has a lower bound: it excludes tokens of completions that are close to the sampler.

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats; the second may hold NaN, see `rho_clamp`.
      advantages: (P, G, T).
      mask: (P, G, T) 1 on completion tokens.
      min_divergence, max_divergence: bounds of D.

    Returns:
      (P, G, T) of 0 and 1.

    VACO (arXiv:2603.01365), as in Open Instruct's `rho_mask_tv_divergence`.
    """
    arrays = old_log_probs, rollout_log_probs, mask
    distance = divergence(*arrays)
    outside = (distance < min_divergence) | (distance > max_divergence)
    dropped = outside & moves_away(*arrays, advantages)
    return array_namespace(old_log_probs).where(dropped, 0.0, array_namespace(mask).ones_like(old_log_probs))


def divergence(old_log_probs: Array, rollout_log_probs: Array, mask: Array) -> Array:
    """Return the mean of |ρ - 1| over the tokens of each completion, (P, G, 1); 0 without tokens."""
    rho = rho_clamp(old_log_probs, rollout_log_probs, mask, max_ratio=inf)
    return masked_mean(abs(rho - 1.0), mask, axis=TOKENS, keepdims=True)


def moves_away(old_log_probs: Array, rollout_log_probs: Array, mask: Array, advantages: Array) -> Array:
    """Return true where the advantage moves a token's probability further from the sampler's, (P, G, T)."""
    log_rho = where_mask(mask, old_log_probs - known(rollout_log_probs))
    return array_namespace(log_rho).sign(log_rho) * advantages > 0.0


# ---- what only Open Instruct's recorded cases hold ---------------------------------------------------


def _every_estimator(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the values of all estimators, in the order of their numbers.

    Without old_log_probs every ratio is 1.
    """
    old = getattr(record, "old_log_probs", record.log_probs)
    arrays = (record.log_probs, record.ref_log_probs, record.log_probs - old)
    return {
        "value": np.stack([open_instruct_kl(*arrays, estimator=number).value for number in KL_ESTIMATORS])
    }


def against_the_sampler(record: SimpleNamespace) -> SimpleNamespace:
    """Return the record with the sampler's log-probabilities as the old ones, as with `use_vllm_logprobs`."""
    return SimpleNamespace(**vars(record) | {"old_log_probs": known(record.rollout_log_probs)})


def _loss_against_the_sampler(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    """Return the loss with `use_vllm_logprobs`."""
    return loss(dialect, config, against_the_sampler(record))


def _packs_of_two(record: SimpleNamespace) -> SimpleNamespace:
    """Join two neighbours into each row: (1, N / 2, 2 T) arrays. The last one may be alone."""
    shape = record.mask.shape
    tokens = {name: value for name, value in vars(record).items() if np.shape(value) == shape}
    if record.advantages.ndim < record.mask.ndim:
        tokens["advantages"] = record.advantages[..., None] + np.zeros(shape)
    rows = {name: value.reshape(-1, shape[-1]) for name, value in tokens.items()}
    even = {name: np.pad(value, ((0, len(value) % 2), (0, 0))) for name, value in rows.items()}
    return SimpleNamespace(**{name: value.reshape(1, -1, 2 * shape[-1]) for name, value in even.items()})


def _loss_in_packs(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss with two neighbours packed into one row, which Open Instruct treats as a sequence.

    A micro-batch is `per_device_train_batch_size` packs, so the metrics are of packs too.
    """
    packed = _packs_of_two(record)
    numbers = loss(dialect, config, packed)
    size = record.mask.size
    gradient = numbers["grad_logp"].reshape(-1)[:size].reshape(record.mask.shape)
    return numbers | {"grad_logp": gradient, "parts": [(packed, numbers)]}


def _kept_groups(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return 1 for each group that takes part."""
    return {"value": np.asarray(dialect.recipe(**config).keep(record), dtype=float)}


def _advantages_of_left(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    """Return the advantages of the completions that the filters keep, and 0 for the others.

    Groups with equal rewards are dropped first. With `mask_truncated_completions`, truncated completions are
    dropped next, from groups that were compared with them, and the rest is divided into groups again. Metrics
    cover only what is left.

    Raises:
      ValueError: if the rest does not fill whole groups, which stops Open Instruct too.
    """
    recipe, size = dialect.recipe(**config), record.rewards.shape[-1]
    left = np.repeat(np.asarray(recipe.keep(record))[:, None], size, axis=1)
    if dialect.settings(config).mask_truncated_completions and hasattr(record, "ended"):
        left &= record.ended.astype(bool)
    value = np.zeros(record.rewards.shape)
    if not left.any():
        return {"value": value}
    kept = SimpleNamespace(rewards=record.rewards[left].reshape(-1, size))
    found = recipe.advantage(kept)
    value[left] = found.reshape(-1)
    return {"value": value, "parts": [(kept, {"value": found})]}


CALLS: dict[str, Call] = {
    "penalties of all estimators": _every_estimator,
    "loss against the sampler": _loss_against_the_sampler,
    "loss in packs of two": _loss_in_packs,
    "kept groups": _kept_groups,
    "advantages": _advantages_of_left,
    "advantages of ended completions": _advantages_of_left,
}
"""Calls that only Open Instruct's recorded cases have."""
