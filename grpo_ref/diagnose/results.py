"""The results of reading a run: its log, its facts, and the statements on it."""

from dataclasses import dataclass

from grpo_ref.diagnose.expected import Remark
from grpo_ref.diagnose.facts import Facts, Shown
from grpo_ref.diagnose.log import Log, quantities, trainers
from grpo_ref.diagnose.patterns import Pattern
from grpo_ref.diagnose.relations import Tested, Violation
from grpo_ref.explain.explanation import Report


@dataclass(frozen=True)
class Results:
    """The report of what happened in a training run.

    Attributes:
      log: the log as it was read.
      facts: what is known of the run.
      report: the explanation of the configuration; None without one.
      shown: the facts that the log itself shows.
      contradicted: those of them that differ from the configuration.
      tested: the exact relations: violations, number of comparisons, and what was not tested.
      remarks: numbers that look alarming and are right.
      patterns: patterns in the curves.
    """

    log: Log
    facts: Facts
    report: Report | None
    shown: list[Shown]
    contradicted: list[Shown]
    tested: Tested
    remarks: list[Remark]
    patterns: list[Pattern]

    @property
    def violations(self) -> list[Violation]:
        """The exact relations that do not hold."""
        return self.tested.violations

    @property
    def is_sound(self) -> bool:
        """True if no relation is broken and nothing differs from the configuration."""
        return not (self.violations or self.contradicted)


WANTED = (
    "dead_share",
    "entropy",
    "kl",
    "grad_norm",
    "truncated",
    "length.min",
    "length.max",
    "advantage.mean",
    "clip",
)
"""Quantities that allow more statements, the most useful first."""


def missing(results: Results) -> list[str]:
    """Return the metrics of the trainer that would allow more statements, and are not in the log, each with its meaning."""
    present = {name.partition("/")[0] for row in results.log.rows for name in row.values}
    names = trainers()[results.log.trainer].plain if results.log.trainer else {}
    metrics = {quantity: metric for metric, quantity in reversed(list(names.items()))}
    return [
        f"{metrics[quantity]} ({_in_brackets(quantities()[quantity].about)})"
        for quantity in WANTED
        if quantity not in present and quantity in metrics
    ]


def _in_brackets(sentence: str) -> str:
    return f"{sentence[0].lower()}{sentence[1:].rstrip('.')}"
