"""Compute the recorded cases of Open Instruct that other trainers' cases do not have."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.arrays import Array
from grpo_ref.explain.dialect import Dialect
from grpo_ref.explain.dialects.open_instruct.kernels import KL_ESTIMATORS, known
from grpo_ref.parity.calls.common import loss
from grpo_ref.parity.measured import Call
from grpo_ref.recipes import slot
from grpo_ref.types import Term


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
    result = recipe.advantage(kept)
    value[left] = result.reshape(-1)
    return {"value": value, "parts": [(kept, {"value": result})]}


CALLS: dict[str, Call] = {
    "penalties of all estimators": _every_estimator,
    "loss against the sampler": _loss_against_the_sampler,
    "loss in packs of two": _loss_in_packs,
    "kept groups": _kept_groups,
    "advantages": _advantages_of_left,
    "advantages of ended completions": _advantages_of_left,
}
"""Calls that only Open Instruct's recorded cases have."""
