"""Find the differences of two runs: facts, metrics that are computed differently, rewards, and statements."""

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.diagnose.facts import FIXED_LENGTH, SEQUENCE_MEAN, TOKEN_MEAN, Facts, is_equal
from grpo_ref.diagnose.log import Log
from grpo_ref.diagnose.results import Results
from grpo_ref.diagnose.statements import SETTINGS, Statement, statements
from grpo_ref.diagnose.text import MARKS, Entry, Section, heading

DEFINITIONS = Path(__file__).with_name("definitions.toml")
AVERAGES: Mapping[str | None, str] = {
    TOKEN_MEAN: "tokens",
    SEQUENCE_MEAN: "completions",
    FIXED_LENGTH: "completions, with sums over tokens divided by a fixed length",
}
STDS: Mapping[str | None, str] = {
    "within": "the mean of the std of each group",
    "pooled": "the std over all completions",
}
FACTS = SETTINGS | {
    "window": "generation batches per row",
    "steps": "optimizer steps per row",
    "average": "average of the loss",
    "on_policy": "each batch is used for one step",
    "weights": "weights of the reward functions",
    "reward_std": "`reward_std`",
    "standardized": "advantages are divided by the std of the group",
    "kl_in_reward": "the KL is subtracted from the rewards",
    "vocabulary": "number of tokens of the vocabulary",
    "whole_vocabulary": "sampling without top-p, top-k and min-p",
    "masks_truncated": "truncated completions are masked",
}
"""Names of facts in sentences. Facts that are not here are not compared."""
REWARDS = ("reward", "score.mean", "shaped.mean")
"""Quantities of the reward; the first that a log has counts."""
PARTS = (20, 10, 5)
"""Numbers of parts into which the common steps are divided."""
FEWEST_ROWS = 4
"""Fewest rows of a run in each part."""
ERRORS = 3.5
"""Standard errors from which a difference counts. By chance, it is exceeded in 0.05 % of the parts."""


class Difference(NamedTuple):
    """Two curves that differ by more than noise.

    Attributes:
      step: the step from which on every part of the curves differs, in the same direction.
      last: the last common step.
      first_mean, second_mean: means of the two curves from `step` on.
      errors: difference of these means in standard errors.
    """

    step: float
    last: float
    first_mean: float
    second_mean: float
    errors: float


@dataclass(frozen=True)
class Runs:
    """Two runs that are compared.

    Attributes:
      first: the diagnosis of run A.
      second: the diagnosis of run B.
    """

    first: Results
    second: Results


def title(runs: Runs) -> str:
    """Return the title of a page: both logs, with their steps and configurations."""
    return f"A: {heading(runs.first)}; B: {heading(runs.second)}"


def in_two_lines(runs: Runs) -> str:
    """Return the first lines of a report and of a figure, one for each run."""
    return f"A: {heading(runs.first)}\nB: {heading(runs.second)}"


def sections(runs: Runs) -> Iterator[Section]:
    """Yield the sections of a runs. Empty sections are omitted."""
    parts = (
        ("the reward", _on_rewards(runs)),
        ("facts that differ", _on_facts(runs)),
        ("metrics of the same name that are computed differently", _on_metrics(runs)),
        ("statements on one run only", _on_statements(runs)),
        ("what was compared", _compared(runs)),
    )
    for name, entries in parts:
        kept = tuple(entries)
        if kept:
            yield Section(name, kept)


def data(runs: Runs) -> Mapping[str, Any]:
    """Return a comparison as data for JSON."""
    parted = rewards_part(runs.first.log, runs.second.log)
    return {
        "A": heading(runs.first),
        "B": heading(runs.second),
        "rewards_differ": None if parted is None else parted._asdict(),
        "facts": {name: list(values) for name, values in facts_apart(runs).items()},
        "computed_differently": {name: list(both) for name, both in computed_apart(runs).items()},
        "statements": {
            run: [{"kind": each.kind, "title": each.title, "step": each.step} for each in only]
            for run, only in zip("AB", one_sided(runs), strict=True)
        },
    }


def rewards_part(first: Log, second: Log) -> Difference | None:
    """Return the difference of the rewards; None if there is none beyond the noise, or too few common steps."""
    one, other = reward(first), reward(second)
    return None if one is None or other is None else parting(one, other)


def reward(log: Log) -> tuple[Floats, Floats] | None:
    """Return the steps and values of the rewards that are finite; None if the log has no reward."""
    column = next((rows for name in REWARDS if (rows := log.column(name))), [])
    values = np.array([each for each in column if math.isfinite(each[1])], float)
    return (values[:, 0], values[:, 1]) if len(values) else None


def parting(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> Difference | None:
    """Return the step from which on two curves differ by more than noise, until the end of their common steps.

    The common steps are divided into parts. In each, the means differ if they are `ERRORS` standard errors apart. The
    noise of a row is estimated from the differences of neighbours, sqrt(mean((x[i+1] - x[i])²) / 2), so that a
    trend does not count as noise. The finest division that shows a difference counts.

    Args:
      first, second: steps and values of each curve.

    >>> steps = np.arange(1.0, 101.0)
    >>> noise = np.tile([0.01, -0.01], 50)
    >>> parting((steps, noise), (steps, noise + (steps > 60))).step
    61.0
    """
    low, high = max(first[0][0], second[0][0]), min(first[0][-1], second[0][-1])
    curves = [
        (steps[kept], values[kept])
        for steps, values in (first, second)
        for kept in [(steps >= low) & (steps <= high)]
    ]
    if min(len(steps) for steps, _ in curves) < FEWEST_ROWS * PARTS[-1]:
        return None
    noises = [float(np.mean(np.diff(values) ** 2) / 2.0) for _, values in curves]
    for count in PARTS:
        edges = np.linspace(low, np.nextafter(high, np.inf), count + 1)
        places = [np.searchsorted(steps, edges) for steps, _ in curves]
        if min(int(np.diff(place).min()) for place in places) < FEWEST_ROWS:
            continue
        errors = [_errors(curves, noises, places, part, part + 1) for part in range(count)]
        begin = count
        while begin > 0 and abs(errors[begin - 1]) > ERRORS and errors[begin - 1] * errors[-1] > 0.0:
            begin -= 1
        if begin < count:
            means = [
                values[place[begin] : place[count]].mean()
                for (_, values), place in zip(curves, places, strict=True)
            ]
            step = min(steps[place[begin]] for (steps, _), place in zip(curves, places, strict=True))
            one, other = map(float, means)
            return Difference(
                float(step), float(high), one, other, _errors(curves, noises, places, begin, count)
            )
    return None


def _errors(
    curves: Sequence[tuple[Floats, Floats]],
    noises: Sequence[float],
    places: Sequence[Any],
    begin: int,
    end: int,
) -> float:
    """Return the second mean minus the first, in standard errors, over the parts from `begin` to `end`."""
    parts = [values[place[begin] : place[end]] for (_, values), place in zip(curves, places, strict=True)]
    apart = float(parts[1].mean() - parts[0].mean())
    error = math.sqrt(sum(noise / len(part) for noise, part in zip(noises, parts, strict=True)))
    return apart / error if error else math.copysign(math.inf, apart) if apart else 0.0


def facts_apart(runs: Runs) -> dict[str, tuple[Any, Any]]:
    """Return the facts that are known of both runs and differ."""
    both = runs.first.facts, runs.second.facts
    pairs = {each.name: tuple(getattr(facts, each.name) for facts in both) for each in fields(Facts)}
    return {
        name: (one, other)
        for name, (one, other) in pairs.items()
        if name in FACTS and one not in (None, {}) and other not in (None, {}) and not is_equal(one, other)
    }


def computed_apart(runs: Runs) -> dict[str, tuple[str, str]]:
    """Return the quantities of both logs that the two runs compute differently, each with the two definitions.

    Two runs of one trainer count as equal where a definition depends on an unknown fact.
    """
    both = runs.first, runs.second
    logged = [{name for row in results.log.rows for name in row.values} for results in both]
    logged = [names | {"reward"} if names & {*REWARDS} else names for names in logged]
    is_one_trainer = runs.first.log.trainer == runs.second.log.trainer
    apart = {}
    for name in _definitions():
        if not all(name in names for names in logged):
            continue
        one, other = (definition(name, results) for results in both)
        if one is None or other is None or one.text == other.text:
            continue
        if (one.is_known and other.is_known) or not is_one_trainer:
            apart[name] = (one.text, other.text)
    return apart


class Definition(NamedTuple):
    """The computation of a quantity by a trainer.

    Attributes:
      text: the definition.
      is_known: false if it depends on a fact that is unknown.
    """

    text: str
    is_known: bool


def definition(quantity: str, results: Results) -> Definition | None:
    """Return how the trainer of a run computes a quantity; None if it is not recorded."""
    recorded = _definitions()[quantity].get(results.log.trainer)
    if recorded is None:
        return None
    what, over, facts = recorded["what"], recorded.get("over"), results.facts
    if quantity == "reward_std" and results.log.trainer == "trl":
        return Definition(STDS.get(facts.reward_std, what), facts.reward_std is not None)
    if over == "loss":
        average = "the tokens with the weights of the loss, which the configuration tells"
        return Definition(
            f"{what}, mean over {AVERAGES.get(facts.average, average)}", facts.average is not None
        )
    return Definition(f"{what}, mean over {over}" if over else what, True)


@cache
def _definitions() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    return tomllib.loads(DEFINITIONS.read_text(encoding="utf-8"))


def one_sided(runs: Runs) -> tuple[list[Statement], list[Statement]]:
    """Return the statements that hold for run A only, and for run B only. Their steps and numbers do not count."""
    first, second = statements(runs.first), statements(runs.second)
    return _others(first, second), _others(second, first)


def _others(some: Sequence[Statement], others: Sequence[Statement]) -> list[Statement]:
    known = {(each.kind, each.name or each.title) for each in others}
    return [each for each in some if (each.kind, each.name or each.title) not in known]


def _on_rewards(runs: Runs) -> Iterator[Entry]:
    logs = runs.first.log, runs.second.log
    both = [reward(log) for log in logs]
    if both[0] is None or both[1] is None:
        yield Entry("", "A log has no reward.")
        return
    parted = rewards_part(*logs)
    low, high = max(each[0][0] for each in both if each), min(each[0][-1] for each in both if each)
    rows = [int(np.sum((steps >= low) & (steps <= high))) for steps, _ in (each for each in both if each)]
    if low > high:
        yield Entry("", "The two logs have no common steps.")
    elif min(rows) < FEWEST_ROWS * PARTS[-1]:
        yield Entry("", "The common steps have too few rows to tell a difference of the rewards from noise.")
    elif parted is not None:
        larger = "B" if parted.second_mean > parted.first_mean else "A"
        errors = (
            f"; the difference is {abs(parted.errors):.1f} standard errors"
            if math.isfinite(parted.errors)
            else ""
        )
        evidence = (
            f"Mean reward over steps {parted.step:,.0f} to {parted.last:,.0f}: A {parted.first_mean:.3g}, B"
            f" {parted.second_mean:.3g}{errors}."
        )
        yield Entry(
            "~",
            f"the reward of {larger} is higher by more than noise, from step {parted.step:,.0f} to the last common step",
            (
                evidence,
                "A difference between two runs can come from the seed alone: repeat both with other seeds.",
            ),
        )
    else:
        yield Entry("", "The rewards do not differ by more than noise at the end of the common steps.")
    names = [set(log.components) for log in logs]
    for run, only in (("A", names[0] - names[1]), ("B", names[1] - names[0])):
        if only and all(names):
            yield Entry(
                "!",
                f"only {run} has the reward functions {', '.join(sorted(only))}: the rewards are not comparable",
            )


def _on_facts(runs: Runs) -> Iterator[Entry]:
    first, second = runs.first, runs.second
    if first.log.trainer != second.log.trainer:
        yield Entry("", f"trainer: A {first.log.title}, B {second.log.title}")
    apart = facts_apart(runs)
    for name, (one, other) in apart.items():
        yield Entry("", f"{FACTS[name]}: A {_shown(one)}, B {_shown(other)}")
    if "completions" in apart:
        sizes = first.facts.completions, second.facts.completions
        yield Entry(
            "",
            f"So a step of A has {sizes[0]} completions per generation batch, one of B {sizes[1]}: compare per completion.",
        )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {weight:g}" for name, weight in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("_", " ")


def _on_metrics(runs: Runs) -> Iterator[Entry]:
    for name, (one, other) in computed_apart(runs).items():
        yield Entry("!", f"{name} is not the same quantity in the two logs", (f"A: {one}.", f"B: {other}."))


def _on_statements(runs: Runs) -> Iterator[Entry]:
    sides = (("A", "B", runs.second), ("B", "A", runs.first))
    for (run, other, results), only in zip(sides, one_sided(runs), strict=True):
        for each in only:
            lines = list(each.lines[:1])
            if each.kind == "violation":
                count = results.tested.counts.get(each.name, 0)
                lines.append(
                    f"In {other}, {f'{count:,} comparisons hold' if count else 'it could not be tested'}."
                )
            yield Entry(MARKS[each.kind], f"only {run}: {each.title}", tuple(lines), each.page)


def _compared(runs: Runs) -> Iterator[Entry]:
    logs = runs.first.log, runs.second.log
    names = [{name.partition("/")[0] for row in log.rows for name in row.values} for log in logs]
    both = sorted(names[0] & names[1])
    yield Entry("", f"Quantities in both logs: {', '.join(both) if both else 'none'}.")
    unknown = [
        name
        for name in both
        if logs[0].trainer != logs[1].trainer
        and name in _definitions()
        and not all(_has_definition(name, log) for log in logs)
    ]
    if unknown:
        trainers = sorted({log.title for log in logs for name in unknown if not _has_definition(name, log)})
        yield Entry(
            "",
            f"How {' and '.join(trainers)} compute{'s' * (len(trainers) == 1)} {', '.join(unknown)} is not recorded here.",
        )
    reports = runs.first.report, runs.second.report
    if None in reports:
        yield Entry("", "With the configurations of both runs, more facts can be compared.")
    else:
        yield Entry("", "`grpo-ref explain CONFIG_A CONFIG_B` compares the two objectives.")


def _has_definition(quantity: str, log: Log) -> bool:
    return log.trainer in _definitions()[quantity]
