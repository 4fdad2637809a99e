"""An experiment: one claim of the literature, what is run to test it, and what is predicted beforehand.

    arms          label -> what is run and measured, for many seeds at once
    comparisons   which arm should have more of what, and by how much before it matters
    panels        what the figure shows beside the comparisons

An arm is a function with settings. It is called with `seeds` and `seed` and returns one number a seed for
each measure, or one number a seed and update for a curve; arms are compared seed by seed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.statistics import (
    Estimate,
    Expectation,
    Outcome,
    Verdict,
    estimates,
    outcome,
    verdict,
)
from grpo_ref.recipes import Recipe

Measures = dict[str, Floats]
"""Name -> (S,) one number a seed, or (S, U) a curve over updates or another grid."""


@dataclass(frozen=True)
class Arm:
    """One side of a comparison.

    Attributes:
      run: called as run(**settings, seeds=S, seed=base) -> Measures; results of a seed must not depend on the
        number of seeds.
      settings: plain values, recipes and functions; they are part of the cache's key.
    """

    run: Callable[..., Measures]
    settings: Mapping[str, Any]


def arm(run: Callable[..., Measures], **settings: Any) -> Arm:
    """A function and its settings as an arm."""
    return Arm(run, settings)


class Comparison(NamedTuple):
    """What the claim predicts of two arms, seed by seed.

    Attributes:
      says: the prediction in one sentence.
      measure: name of a measure with one number a seed.
      left: label of an arm.
      expect: "more", "less" or "same".
      right: label of another arm, or a number that theory gives.
      margin: the largest difference that does not matter, in units of the measure.
    """

    says: str
    measure: str
    left: str
    expect: Expectation
    right: str | float
    margin: float = 0.0


class Curves(NamedTuple):
    """A panel with a line for each arm over updates (or over `x`); its measure is (S, U).

    Attributes:
      measure: name of the curve.
      ylabel: what it is, with its unit.
      xlabel: of the horizontal axis.
      x: values on it; left out, 1, 2, ...
      arms: which arms; left out, all that have the measure.
      log: "", "x", "y" or "xy".
    """

    measure: str
    ylabel: str
    xlabel: str = "update"
    x: Sequence[float] = ()
    arms: Sequence[str] = ()
    log: str = ""


class Points(NamedTuple):
    """A panel with a point and interval for each arm; its measure is (S,).

    Attributes:
      measure: name of the number.
      ylabel: what it is, with its unit.
      arms: which arms; left out, all that have the measure.
      x: series name -> its arms' places on a numeric axis, in the order of that series' arms; left out, every
        arm stands at its own name.
      xlabel: of the numeric axis.
      log: "", "x", "y" or "xy".
    """

    measure: str
    ylabel: str
    arms: Sequence[str] = ()
    x: Mapping[str, Mapping[str, float]] = {}
    xlabel: str = ""
    log: str = ""


@dataclass(frozen=True)
class Experiment:
    """One claim and its test.

    Attributes:
      name: as given on the command line.
      group: which part of the algorithm it is about; every group has a mutant that flips a verdict.
      claim: in one sentence, as the source has it.
      source: who says so.
      run: what is run, in a sentence or two: task, recipes, settings.
      measured: what is measured, with units, in a sentence.
      arms: label -> arm.
      comparisons: the predictions; their intervals hold together.
      panels: one or two pictures of the phenomenon.
      remark: a sentence that the reader of the verdict needs, or "".
      chosen: what of the environment or the comparisons was chosen after a look at results, or "".
      exhibit: makes a piece of Markdown to look at, as samples of the policies; None if there is none.
    """

    name: str
    group: str
    claim: str
    source: str
    run: str
    measured: str
    arms: Mapping[str, Arm]
    comparisons: tuple[Comparison, ...]
    panels: tuple[Curves | Points, ...]
    remark: str = ""
    chosen: str = ""
    exhibit: Callable[[], str] | None = None

    def mutated(self, change: Callable[[Recipe], Recipe]) -> "Experiment":
        """The same experiment with every recipe among the arms' settings changed: to see it fail."""
        arms = {
            label: Arm(one.run, {key: _changed(value, change) for key, value in one.settings.items()})
            for label, one in self.arms.items()
        }
        return replace(self, arms=arms)


def _changed(value: Any, change: Callable[[Recipe], Recipe]) -> Any:
    return change(value) if isinstance(value, Recipe) else value


class Finding(NamedTuple):
    """How one comparison came out."""

    comparison: Comparison
    estimate: Estimate
    outcome: Outcome


class Result(NamedTuple):
    """What came out of an experiment.

    Attributes:
      measures: arm -> its measures.
      findings: one a comparison.
      verdict: by the rule of `statistics.verdict`.
    """

    measures: Mapping[str, Measures]
    findings: tuple[Finding, ...]
    verdict: Verdict


def judged(experiment: Experiment, measures: Mapping[str, Measures]) -> Result:
    """Compare the arms and give the verdict.

    Raises:
      ValueError: if an arm lacks a measure, or has it in another shape than one number a seed.
    """
    differences = [_difference(one, measures) for one in experiment.comparisons]
    findings = tuple(
        Finding(one, estimate, outcome(estimate, one.expect, one.margin))
        for one, estimate in zip(experiment.comparisons, estimates(differences), strict=True)
    )
    return Result(measures, findings, verdict([one.outcome for one in findings]))


def _difference(comparison: Comparison, measures: Mapping[str, Measures]) -> Floats:
    left = _numbers(comparison.measure, comparison.left, measures)
    if isinstance(comparison.right, str):
        return left - _numbers(comparison.measure, comparison.right, measures)
    return left - comparison.right


def _numbers(measure: str, label: str, measures: Mapping[str, Measures]) -> Floats:
    if label not in measures or measure not in measures[label]:
        raise ValueError(f"{measure}: arm {label!r} has no such measure")
    numbers = measures[label][measure]
    if numbers.ndim != 1:
        raise ValueError(f"{measure}: expected one number a seed in arm {label!r}, got shape {numbers.shape}")
    return numbers


def run_experiment(experiment: Experiment, *, seeds: int, seed: int = 0) -> Result:
    """Run all arms here and now, without cache or other processes.

    Args:
      experiment: the claim.
      seeds: how many independent runs of each arm; at least 2.
      seed: base of their random numbers.
    """
    measures = {
        label: one.run(**one.settings, seeds=seeds, seed=seed) for label, one in experiment.arms.items()
    }
    return judged(experiment, measures)
