"""Quantities that the metrics of several trainers are computed from."""

from grpo_ref.arrays import Floats
from grpo_ref.parity.measured import Measured


def old_log_probs_of(measured: Measured) -> Floats:
    """Return log πold, (P, G, T); on-policy, it equals log πθ."""
    old: Floats = getattr(measured.record, "old_log_probs", measured.record.log_probs)
    return old


def log_ratio_of(measured: Measured) -> Floats:
    """Return log πθ - log πold, (P, G, T); on-policy, it is 0."""
    record = measured.record
    log_ratio: Floats = record.log_probs - getattr(record, "old_log_probs", record.log_probs)
    return log_ratio
