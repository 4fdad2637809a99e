"""Functions that compute the metrics that trainers log, one module for each trainer."""

from collections.abc import Mapping

from grpo_ref.parity.measured import Metric, tables_of_trainers

METRICS_OF_TRAINER: Mapping[str, Mapping[str, Metric]] = tables_of_trainers(
    __name__, list(__path__), "METRICS"
)
"""Each trainer with its metrics, by the name that is logged."""
