"""Read a training log into rows of numbers, each by the quantity that it measures.

A trainer's name for a metric is looked up in `metrics.toml`. Names that are not there are kept apart and never guessed.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

METRICS = Path(__file__).with_name("metrics.toml")
STEPS = ("step", "rollout_id", "global_step", "training/global_step", "_step", "Step")
"""Names of the step in a row, the first that is present counts."""
OF_EVALUATION = re.compile(r"(eval|val|test)([_/-].*|)|.*/val[_/-].*")
SUMMARY = "train_runtime"
"""A metric of the row that the Hugging Face trainer writes at the end of a run."""


class Quantity(NamedTuple):
    """A quantity that trainers log.

    Attributes:
      unit: its unit, or "" for a pure number.
      about: its meaning, in one sentence.
      over: the rows over which the mean is taken; "" for the whole generation batch.
    """

    unit: str
    about: str
    over: str = ""


@dataclass(frozen=True)
class Names:
    """The names that one trainer gives to quantities.

    Attributes:
      trainer: name of the trainer, a key of `metrics.toml`.
      title: its name in sentences.
      tells: metrics that only this trainer logs.
      plain: name -> quantity.
      patterns: patterns of names, each with its quantity. A group `name` in a pattern is the name of a reward function.
    """

    trainer: str
    title: str
    tells: frozenset[str]
    plain: Mapping[str, str]
    patterns: tuple[tuple[re.Pattern[str], str], ...]

    def quantity(self, metric: str) -> str | None:
        """Return the quantity of a metric, "component.mean/NAME" for a reward function; None if it is unknown."""
        if metric in self.plain:
            return self.plain[metric]
        for pattern, quantity in self.patterns:
            match = pattern.fullmatch(metric)
            if match is not None:
                name = match.groupdict().get("name")
                return f"{quantity}/{name}" if name else quantity
        return None


@dataclass(frozen=True)
class Row:
    """The numbers that a trainer logged at one step.

    Attributes:
      step: number of the step; the number of the row, from 1, if the log has no steps.
      values: quantity -> number.
    """

    step: int
    values: Mapping[str, float]

    def get(self, quantity: str) -> float | None:
        """Return a number; None if it is not in the row."""
        return self.values.get(quantity)


@dataclass(frozen=True)
class Log:
    """A training log.

    Attributes:
      trainer: name of the trainer, or "" if its metrics do not tell.
      title: its name in sentences.
      rows: one per logged step, in the order of the steps.
      unknown: metrics without a definition -> number of rows that have them.
      digits: relative precision of the numbers as they were printed.
      loss_digits: absolute precision of the loss. Transformers 4 rounds it to 4 decimals.
      notes: remarks on how the log was read, in whole sentences.
    """

    trainer: str
    title: str
    rows: list[Row]
    unknown: Mapping[str, int] = field(default_factory=dict)
    digits: float = 1e-6
    loss_digits: float = 1e-6
    notes: tuple[str, ...] = ()

    def column(self, quantity: str) -> list[tuple[int, float]]:
        """Return the steps and values of the rows that have a quantity."""
        return [(row.step, row.values[quantity]) for row in self.rows if quantity in row.values]

    @cached_property
    def components(self) -> tuple[str, ...]:
        """The names of the reward functions."""
        prefix = "component.mean/"
        names = dict.fromkeys(key for row in self.rows for key in row.values if key.startswith(prefix))
        return tuple(name.removeprefix(prefix) for name in names)


@cache
def quantities() -> Mapping[str, Quantity]:
    """Return the quantities by name."""
    return {name: Quantity(**each) for name, each in _data()["quantities"].items()}


@cache
def trainers() -> Mapping[str, Names]:
    """Return the names of metrics by trainer."""
    data = {name: table for name, table in _data().items() if name != "quantities"}
    return {name: _names(name, table, data) for name, table in data.items()}


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(METRICS.read_text(encoding="utf-8"))


def _names(trainer: str, table: Mapping[str, Any], data: Mapping[str, Any]) -> Names:
    inherited = data[table["base"]]["metrics"] if "base" in table else {}
    metrics = {**inherited, **table["metrics"]}
    patterns = {name: quantity for name, quantity in metrics.items() if re.search(r"[\\()]", name)}
    return Names(
        trainer,
        table["title"],
        frozenset(table["tells"]),
        {name: quantity for name, quantity in metrics.items() if name not in patterns},
        tuple((re.compile(name), quantity) for name, quantity in patterns.items()),
    )


def trainer_of(metrics: Iterable[str]) -> str:
    """Return the trainer whose metrics these are: the one most of whose own names are there; "" if there is none."""
    present = set(metrics)
    counts = {name: len(names.tells & present) for name, names in trainers().items()}
    best = max(counts, key=lambda name: (counts[name], name != "trl"))
    return best if counts[best] else ""


def log_of(records: Iterable[Mapping[str, float]], trainer: str = "") -> Log:
    """Return the log of records as a trainer wrote them, with its own names.

    Rows of an evaluation and the summary at the end of a run are skipped. Records with the same step are joined. If a
    step is repeated, as after a restart, the last values count.

    Args:
      records: one mapping from name to number per record.
      trainer: name of the trainer. Default: found from the names.

    Raises:
      ValueError: if no record has a metric that is known.

    >>> log = log_of([{"step": 1, "reward": 0.5, "reward_std": 0.2, "color": 7.0}])
    >>> log.title, log.rows[0].values, dict(log.unknown)
    ('TRL', {'reward': 0.5, 'reward_std': 0.2}, {'color': 1})
    """
    kept = [dict(record) for record in records]
    kept = [record for record in kept if record and not _is_of_evaluation(record)]
    trainer = trainer or trainer_of(name for record in kept for name in record)
    names = trainers().get(trainer, trainers()["trl"])
    rows: dict[int, dict[str, float]] = {}
    unknown: dict[str, int] = {}
    counted = 0
    for record in kept:
        step = next((int(record[name]) for name in STEPS if name in record), None)
        values: dict[str, float] = {}
        for metric, value in record.items():
            short = metric.removeprefix("train/") if trainer in ("trl", "ms_swift") else metric
            quantity = names.quantity(short)
            if quantity is not None:
                values[quantity] = value
            elif metric not in (*STEPS, "epoch"):
                unknown[metric] = unknown.get(metric, 0) + 1
        if not values:
            continue
        counted += 1
        rows.setdefault(counted if step is None else step, {}).update(values)
    if not rows:
        raise ValueError("no metric of a known trainer is in this log")
    return Log(trainer, names.title, [Row(step, rows[step]) for step in sorted(rows)], unknown)


def _is_of_evaluation(record: Mapping[str, float]) -> bool:
    """Return true for a row of an evaluation, or the summary of a run."""
    metrics = [name for name in record if name not in (*STEPS, "epoch")]
    return SUMMARY in record or (bool(metrics) and all(OF_EVALUATION.fullmatch(name) for name in metrics))


def with_precision(log: Log, digits: float, loss_digits: float) -> Log:
    """Return the log with the precision of its numbers."""
    return replace(log, digits=digits, loss_digits=loss_digits)
