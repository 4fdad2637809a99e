"""Read a training log into rows of numbers, each by the quantity that it measures.

A trainer's name for a metric is looked up in `metrics.toml`. Names that are not there are kept apart and never guessed.
"""

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from grpo_ref.diagnose.lines import MOST_RECORDS, STEPS, place

METRICS = Path(__file__).with_name("metrics.toml")
OF_EVALUATION = re.compile(r"(eval|val|test)([_/-].*|)|.*/val[_/-].*")
SUMMARY = "train_runtime"
"""A metric of the row that the Hugging Face trainer writes at the end of a run."""
OTHER_TRAINING = ("mean_token_accuracy", "train_mean_nll", "teacher_kl")
"""Metrics of TRL's SFTTrainer and of the Tinker cookbook's fine-tuning and distillation, which have no reward to learn.

Notebooks often fine-tune before they train with GRPO, and print both logs.
"""
MOST_NAMES = 10_000
"""Largest number of names of metrics of a log."""
MOST_READ = 2_000
"""Number of rows from which the precision of the numbers is taken."""


class Quantity(NamedTuple):
    """A quantity that trainers log.

    Attributes:
      unit: its unit, or "" for a pure number.
      about: its meaning, in one sentence.
      over: over what a mean, an extreme or a standard deviation is taken: tokens, completions or groups of a generation
        batch, or other words; "" for a plain number.
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
      plain: name -> quantity, with a minus sign if the trainer logs it with the other sign, "1-" if it logs the rest to 1.
      patterns: patterns of names, each with its quantity. A group `name` in a pattern is the name of a reward function.
      over: quantity -> over what this trainer takes it, if not as the definition says.
      decimals: number of decimals in its console; None if they vary.
      base: the trainer whose names it has too, or "".
      since, until: patterns of names, each with the first or last release that logs them.
    """

    trainer: str
    title: str
    tells: frozenset[str]
    plain: Mapping[str, str]
    patterns: tuple[tuple[re.Pattern[str], str], ...]
    over: Mapping[str, str] = field(default_factory=dict)
    decimals: int | None = None
    base: str = ""
    since: Mapping[str, str] = field(default_factory=dict)
    until: Mapping[str, str] = field(default_factory=dict)

    def quantity(self, metric: str) -> str | None:
        """Return the quantity of a metric, "component.mean/NAME" for a reward function; None if it is unknown.

        A minus sign before it means that the trainer logs the quantity with the other sign, "1-" that it logs the rest to 1.
        """
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
      title: its name in sentences; "TRL-like" if the trainer is unknown and the metrics were read by TRL's names.
      releases: its possible releases, such as "0.17 or later"; "" if the metrics do not tell.
      rows: one per logged step, in the order of the steps.
      unknown: metrics without a definition -> number of rows that have them.
      digits: relative precision of the numbers as they were printed.
      loss_digits: absolute precision of the loss. Transformers 4 rounds it to 4 decimals.
      rounding: absolute precision of all numbers, if they are from a console with few decimals; 0 otherwise.
      replaced: number of steps that occur again with other numbers, after a restart or in several runs in one file. The last
        numbers count.
      settings: what the folder of a run says about its configuration, by the names of `Facts`.
    """

    trainer: str
    title: str
    rows: list[Row]
    unknown: Mapping[str, int] = field(default_factory=dict)
    digits: float = 1e-6
    loss_digits: float = 1e-6
    rounding: float = 0.0
    releases: str = ""
    replaced: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

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
    given = {**inherited, **table["metrics"]}
    metrics = {name: each if isinstance(each, str) else each["quantity"] for name, each in given.items()}
    patterns = {name: quantity for name, quantity in metrics.items() if re.search(r"[\\()]", name)}
    return Names(
        trainer,
        table["title"],
        frozenset(table["tells"]),
        {name: quantity for name, quantity in metrics.items() if name not in patterns},
        tuple((re.compile(name), quantity) for name, quantity in patterns.items()),
        {_read(each["quantity"])[0]: each["over"] for each in given.values() if not isinstance(each, str)},
        table.get("decimals"),
        table.get("base", ""),
        table.get("since", {}),
        table.get("until", {}),
    )


def _read(quantity: str, value: float = 0.0) -> tuple[str, float]:
    """Return the name of a quantity without its sign, and its value, given the number that a trainer logs."""
    if quantity.startswith("1-"):
        return quantity.removeprefix("1-"), 1.0 - value
    return quantity.removeprefix("-"), -value if quantity.startswith("-") else value


@cache
def _names_with_underscores() -> Mapping[str, str]:
    """Return the names that verl's metrics get where a slash cannot be in a name, each with verl's own name."""
    return {name.replace("/", "_"): name for name in (*trainers()["verl"].plain, *STEPS) if "/" in name}


def _with_slashes(record: Mapping[str, float]) -> Mapping[str, float]:
    """Return a record with verl's own names, if several of its names are verl's with underscores in place of slashes."""
    own = _names_with_underscores()
    renamed = {own[name] for name in own.keys() & record.keys()}
    if len(renamed) < 3 or not renamed & trainers()["verl"].tells:
        return record
    return {own.get(name, name): value for name, value in record.items()}


@lru_cache(MOST_NAMES)
def _is_known(metric: str) -> bool:
    """Return true if some trainer logs a metric."""
    names = (metric, metric.removeprefix("train/"))
    return metric in STEPS or any(each.quantity(name) for each in trainers().values() for name in names)


def trainer_of(metrics: Iterable[str]) -> str:
    """Return the trainer whose metrics these are: the one most of whose own names are there; "" if there is none."""
    present = {part for name in metrics for part in (name, name.removeprefix("train/"))}
    own = {name: len(names.tells & present) for name, names in trainers().items()}
    counts = {name: own[name] and own[name] + own.get(names.base, 0) for name, names in trainers().items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else ""


def _is_certain(trainer: str, quantity_of: Mapping[str, str | None]) -> bool:
    """Return true if metrics are surely those of a trainer, and not of a program that shares a few names with it.

    Most of them have its names, or several have, and two of these no other trainer has.
    """
    if not trainer:
        return False
    metrics = [name.removeprefix("train/") for name in quantity_of if name not in (*STEPS, "epoch")]
    own = trainers()[trainer].tells & ({*metrics} | {*quantity_of})
    known = {name.removeprefix("train/") for name, quantity in quantity_of.items() if quantity is not None}
    return (len(own) >= 2 and len(own | known) >= 3) or (bool(own) and len(known) >= len(metrics) / 2)


def releases_of(trainer: str, metrics: Iterable[str]) -> str:
    """Return the releases of a trainer that log all of these metrics, as text; "" if the metrics do not tell.

    Some forks log names of old and new releases together. Then nothing is said.

    >>> releases_of("trl", ["completions/mean_length", "frac_reward_zero_std"])
    '0.18 or later'
    >>> releases_of("trl", ["completion_length", "rewards/f"])
    '0.16 or earlier'
    """
    if trainer not in trainers():
        return ""
    names, present = trainers()[trainer], list(metrics)

    def releases(table: Mapping[str, str]) -> list[str]:
        logged = (
            release for name, release in table.items() if any(re.fullmatch(name, each) for each in present)
        )
        return sorted(logged, key=lambda release: [int(part) for part in release.split(".")])

    first, last = releases(names.since)[-1:], releases(names.until)[:1]
    if first and last:
        return first[0] if first == last else ""
    return f"{first[0]} or later" if first else f"{last[0]} or earlier" if last else ""


def log_of(records: Iterable[Mapping[str, float]], trainer: str = "") -> Log:
    """Return the log of records as a trainer wrote them, with its own names.

    Rows of an evaluation, of fine-tuning or of distillation, and the summary at the end of a run, are skipped. Records with
    the same step are joined. If a step is repeated, as after a restart, the last values count.

    The records are read one by one, and only metrics that some trainer logs are kept. Of a very long log, a part of the
    steps is kept, spread evenly.

    Args:
      records: one mapping from name to number per record.
      trainer: name of the trainer. Default: found from the names.

    Raises:
      ValueError: if no record has a metric that is known.

    >>> log = log_of([{"step": 1, "reward": 0.5, "reward_std": 0.2, "color": 7.0}])
    >>> log.title, log.rows[0].values, dict(log.unknown)
    ('TRL', {'reward': 0.5, 'reward_std': 0.2}, {'color': 1})
    """
    kept: list[tuple[int | None, int, Mapping[str, float]]] = []  # step, number of the record, numbers
    counts: dict[str, int] = {}  # name -> number of records
    every = 1  # one of so many steps is kept

    def is_kept(step: int | None, number: int) -> bool:
        return number % every == 0 if step is None else place(step) < 1.0 / every

    for number, record in enumerate(map(_with_slashes, records)):
        if not record or _is_no_step_of_training(record):
            continue
        for name in record:
            if name in counts or len(counts) < MOST_NAMES:
                counts[name] = counts.get(name, 0) + 1
        value = next((record[name] for name in STEPS if name in record), math.nan)
        step = int(value) if math.isfinite(value) else None
        if is_kept(step, number):
            kept.append((step, number, {name: each for name, each in record.items() if _is_known(name)}))
        if len(kept) > 2 * MOST_RECORDS:
            every *= 2
            kept = [each for each in kept if is_kept(*each[:2])]
    likeliest = trainer or trainer_of(counts)
    names = trainers().get(likeliest, trainers()["trl"])
    prefix = "train/" if names.trainer in ("trl", "ms_swift") else ""
    quantity_of = {name: names.quantity(name.removeprefix(prefix)) for name in counts}
    is_certain = bool(trainer) or _is_certain(likeliest, quantity_of)
    rows: dict[int, dict[str, float]] = {}
    counted = 0
    replaced: set[int] = set()  # steps that occur again with other numbers
    for step, _, record in kept:
        values = dict(
            _read(quantity, value)
            for name, value in record.items()
            if (quantity := quantity_of.get(name)) is not None
        )
        if values:
            counted += 1
            number = counted if step is None else step
            row = rows.setdefault(number, {})
            if any(row.get(quantity, value) != value for quantity, value in values.items()):
                replaced.add(number)
            row.update(values)
    if not rows:
        raise ValueError("no metric of a known trainer is in this log")
    ordered = [Row(step, rows[step]) for step in sorted(rows)]
    unknown = {
        name: count
        for name, count in counts.items()
        if quantity_of[name] is None and name not in (*STEPS, "epoch")
    }
    read = [row.values for row in ordered[:MOST_READ]]
    digits, loss_digits = precision(read)
    return Log(
        likeliest if is_certain else "",
        names.title if is_certain else f"{names.title}-like",
        ordered,
        unknown,
        digits,
        loss_digits,
        rounding(read, names.decimals),
        releases_of(likeliest, counts) if is_certain else "",
        len(replaced),
    )


def precision(rows: Iterable[Mapping[str, float]]) -> tuple[float, float]:
    """Return the relative precision of the numbers, and the absolute precision of the loss, as they were printed.

    Numbers with at most four significant digits are taken to be rounded to four; a loss with at most four decimals is
    taken to be rounded to four decimals, as Transformers 4 does.

    >>> precision([{"loss": 0.0123, "kl": 0.00012345678}, {"loss": -0.5, "kl": 0.33333333}])
    (1e-06, 5.1e-05)
    """
    others: list[float] = []
    losses: list[float] = []
    for row in rows:
        losses += [value for name, value in row.items() if name == "loss" and math.isfinite(value)]
        others += [row[name] for name in ("kl", "entropy", "reward_std", "grad_norm") if name in row]
    others = [value for value in others if math.isfinite(value) and value]
    is_short = len(others) >= 4 and all(float(f"{value:.3e}") == value for value in others)
    is_rounded = len(losses) >= 2 and all(round(value, 4) == value for value in losses)
    return (5e-4 if is_short else 1e-6), (5.1e-5 if is_rounded else 1e-6)


def rounding(rows: Iterable[Mapping[str, float]], decimals: int | None) -> float:
    """Return half a unit of the last decimal of a trainer's console, or 0 if some number has more decimals.

    Consoles print very small numbers with an exponent, so only numbers of at least 0.01 tell.

    >>> rounding([{"score.mean": 0.52, "learning_rate": 1e-6}], 2), rounding([{"score.mean": 0.5234}], 2)
    (0.005, 0.0)
    """
    if decimals is None:
        return 0.0
    seen = [value for row in rows for value in row.values() if 0.01 <= abs(value) < 1e4]
    return 0.5 * 10.0**-decimals if all(round(value, decimals) == value for value in seen) else 0.0


def _is_no_step_of_training(record: Mapping[str, float]) -> bool:
    """Return true for a row of an evaluation, of fine-tuning or of distillation, or the summary of a run."""
    metrics = [name for name in record if name not in (*STEPS, "epoch")]
    return (
        SUMMARY in record
        or (any(name in record for name in OTHER_TRAINING) and "reward" not in record)
        or (bool(metrics) and all(OF_EVALUATION.fullmatch(name) for name in metrics))
    )
