"""Compute the recorded cases of EasyR1 that other trainers' cases do not have."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from grpo_ref.arrays import BATCH
from grpo_ref.explain.dialect import Dialect
from grpo_ref.parity.calls.common import kept_groups, loss
from grpo_ref.parity.measured import Call


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
    numbers = loss(dialect, config, SimpleNamespace(**parts))
    shares = parts["mask"].sum(BATCH) / record.mask.sum()
    records = [
        SimpleNamespace(**{name: array[i] for name, array in parts.items()}) for i in range(len(shares))
    ]
    gradient = shares[:, None, None, None] * numbers["grad_logp"]
    each = [(one, loss(dialect, config, one)) for one in records]
    return {"loss": (shares * numbers["loss"]).sum(), "grad_logp": gradient.reshape(shape), "parts": each}


CALLS: dict[str, Call] = {"loss of a mini-batch": _mini_batch, "kept groups": kept_groups}
"""Calls that only EasyR1's recorded cases have."""
