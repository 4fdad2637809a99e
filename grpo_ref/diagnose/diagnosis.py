"""`grpo_ref.diagnose`: report what happened in a training run, from its log and its configuration."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grpo_ref.diagnose.configuration import facts_of
from grpo_ref.diagnose.expected import remarks
from grpo_ref.diagnose.facts import (
    Facts,
    averages_batches,
    beyond_budget,
    binary_components,
    from_log,
    has_rows_for_weights,
    joined,
)
from grpo_ref.diagnose.folders import files_of_run
from grpo_ref.diagnose.formats import records_of_file
from grpo_ref.diagnose.lines import Record, numbers
from grpo_ref.diagnose.log import Log, log_of
from grpo_ref.diagnose.own_runs import is_own_run, log_of_run
from grpo_ref.diagnose.patterns import patterns
from grpo_ref.diagnose.relations import apply_relations
from grpo_ref.diagnose.results import Results
from grpo_ref.diagnose.text import text
from grpo_ref.explain.explanation import Report
from grpo_ref.explain.report import explain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPLAINED = {"dead": ("R12",), "nothing_learned": ("R12", "R29")}
"""Patterns that a violation explains: name -> codes."""
ONE_BATCH_PER_ROW = ("verl", "slime", "minimind")
"""Trainers that log one row for each generation batch."""


class UnreadableError(ValueError):
    """Raised if a log cannot be read. The message names the file."""


FAMILIES = {"unsloth": "trl", "ms_swift": "trl", "easy_r1": "verl", "miles": "slime"}
"""Trainers that log the metrics of another trainer."""


class Diagnosis(Results):
    """The report of what happened in a training run. Print it, or read the attributes of `Results`."""

    def __str__(self) -> str:
        return text(self)

    __repr__ = __str__

    def plot(self) -> "Figure":
        """Draw the curves, with the statements marked at the steps at which they begin."""
        from grpo_ref.diagnose.figure import figure  # matplotlib, which the text does not need

        return figure(self)

    def _repr_html_(self) -> str:
        """Return the report with its figure, which a notebook shows."""
        from grpo_ref.diagnose.page import body  # matplotlib, which the text does not need

        return body(self)


def diagnose(
    log: str | PathLike[str] | Sequence[str | PathLike[str]] | Iterable[Mapping[str, Any]],
    config: str | PathLike[str] | Report | None = None,
    *,
    trainer: str = "",
) -> Diagnosis:
    """Read a training log, and its configuration if there is one, and report what happened. Everything stays local.

    Args:
      log: a file or the folder of a run, several files of one run, or the rows themselves, such as TRL's `trainer.state.log_history`.
      config: the launch file, as for `grpo_ref.explain`, or its report. Default: only the log is read.
      trainer: name of the trainer. Default: found from the names of the metrics.

    Raises:
      ValueError: if a file cannot be read or has no metric of a known trainer, or if the configuration cannot be read.

    >>> rows = [{"step": 1, "reward": 0.5, "rewards/f/mean": 0.25, "rewards/f/std": 0.5, "reward_std": 0.1}]
    >>> diagnosis = diagnose(rows, explain("num_generations=8", trainer="trl"))
    >>> [violation.code for violation in diagnosis.violations]
    ['R1']
    >>> diagnosis.violations[0].formula
    'reward 0.5, sum 1 x 0.25 = 0.25'
    """
    read = read_log(log, trainer)
    report = config if isinstance(config, Report) else None if config is None else explain(config)
    return diagnosis_of(read, report)


def diagnosis_of(log: Log, report: Report | None = None) -> Diagnosis:
    """Return the diagnosis of a log that was read.

    Raises:
      ValueError: if log and configuration are of different trainers.
    """
    if report is not None and log.trainer and _family(log.trainer) != _family(report.dialect.name):
        raise ValueError(
            f"the log is of {log.title}, and the configuration of {report.dialect.version}: they are not of one run"
        )
    given = Facts(**log.settings) if report is None else facts_of(report)
    window = 1 if given.window is None and log.trainer in ONE_BATCH_PER_ROW else given.window
    given = replace(given, binary=given.binary | binary_components(log), window=window)
    shown = from_log(log)
    if given.standardized is False:  # the group size is read from standardized advantages
        shown = [fact for fact in shown if fact.name != "group_size"]
    facts, contradicted = joined(given, shown)
    if facts.weights is None and has_rows_for_weights(log):  # no weights give the reward, those of 1 neither
        facts = replace(facts, weights={})
    if given.single_turn:
        contradicted += beyond_budget(log, given.budget)
    if averages_batches(log):
        facts = replace(facts, window=None if facts.window == 1 else facts.window)
    results = apply_relations(log, facts)
    broken = {violation.code for violation in results.violations}
    kept = [each for each in patterns(log, facts) if not broken & {*EXPLAINED.get(each.name, ())}]
    return Diagnosis(log, facts, report, shown, contradicted, results, remarks(log, facts), kept)


def _family(trainer: str) -> str:
    return FAMILIES.get(trainer, trainer)


def read_log(
    log: str | PathLike[str] | Sequence[str | PathLike[str]] | Iterable[Mapping[str, Any]], trainer: str = ""
) -> Log:
    """Read the log of one run from files or from rows.

    Raises:
      ValueError: if there is nothing to read.
    """
    if isinstance(log, (str, PathLike)):
        paths: list[Path] = [Path(log)]
    else:
        items = list(log)
        paths = [Path(item) for item in items if isinstance(item, (str, PathLike))]
        if not paths:
            return log_of((numbers(item) for item in items if isinstance(item, Mapping)), trainer)
    try:
        if len(paths) == 1 and is_own_run(paths[0]):
            return log_of_run(paths[0])
        return log_of(_records(paths), trainer)
    except UnreadableError:
        raise
    except ValueError as error:
        raise UnreadableError(f"{', '.join(map(str, paths))}: {error}") from error


def _records(paths: Sequence[Path]) -> Iterator[Record]:
    for path in paths:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise UnreadableError(f"{path}: it is neither a file nor a folder")
        try:
            for each in files_of_run(path) if path.is_dir() else [path]:
                yield from records_of_file(each)
        except OSError as error:
            raise UnreadableError(f"{path}: it cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise UnreadableError(f"{path}: {error}") from error
