"""What RLinf alone does: NaN from an empty completion, and a penalty that was called with its arguments swapped."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from grpo_ref.arrays import TOKENS, Array, array_namespace, as_floating
from grpo_ref.kernels.aggregation import sequence_mean_token_mean
from grpo_ref.trainers.calls import penalty
from grpo_ref.trainers.dialect import Call, Dialect


def nan_where_empty(mask: Array) -> Array:
    """`sequence_mean_token_mean` without a bound on the length: a completion without tokens divides 0 by 0.

        W = m / (|o| n),    |o| the tokens of the completion, n the completions

    Args:
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G, T) weights; NaN for completions without tokens, so that the loss is NaN.

    RLinf `utils.py`, "seq-mean-token-mean".
    """
    mask = as_floating(mask)
    xp = array_namespace(mask)
    lengths = xp.sum(mask, axis=TOKENS, keepdims=True)
    return xp.where(lengths > 0.0, sequence_mean_token_mean(mask), xp.nan)


def _swapped_penalty(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """The FSDP actor's penalty, called with the reference first; its slope is with respect to the second."""
    exchanged = {"log_probs": record.ref_log_probs, "ref_log_probs": record.log_probs}
    found = penalty(dialect, config, SimpleNamespace(**vars(record) | exchanged))
    return found | {"grad_logp": -found["grad_logp"]}


CALLS: dict[str, Call] = {"penalty before PR #1400": _swapped_penalty}
"""What only RLinf's recorded cases hold."""
