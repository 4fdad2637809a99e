"""What Open Instruct alone does: its KL estimators have numbers."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.arrays import Array
from grpo_ref.kernels.penalties import k1, k2, k3, weighted_k1
from grpo_ref.recipes import Slot, slot
from grpo_ref.trainers.dialect import Call, Dialect
from grpo_ref.types import Term

KL_ESTIMATORS: dict[int, Slot] = {
    0: slot(k1, max_log_ratio=40.0),
    1: slot(k2, max_log_ratio=40.0),
    2: slot(k3, max_log_ratio=40.0),
    3: slot(weighted_k1, max_log_ratio=40.0),
}
"""By the number that `kl_estimator` is; 2 is the default, and 3 reads the importance ratio too."""


def open_instruct_kl(
    log_probs: Array,
    ref_log_probs: Array,
    log_ratio: Array,
    *,
    estimator: int = 2,
    max_log_ratio: float = 40.0,
) -> Term:
    """Open Instruct's numbered estimators: 0 is k1, 1 is k2, 2 is k3 (its default), 3 is weighted_k1.

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
    """The values of all estimators, in the order of their numbers."""
    arrays = (record.log_probs, record.ref_log_probs, record.log_probs - record.old_log_probs)
    return {
        "value": np.stack([open_instruct_kl(*arrays, estimator=number).value for number in KL_ESTIMATORS])
    }


CALLS: dict[str, Call] = {"penalties of all estimators": _every_estimator}
"""What only Open Instruct's recorded cases hold."""
