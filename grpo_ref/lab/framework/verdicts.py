"""Decide by rule which predictions hold, and the verdict on the claim."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import Expectation, Experiment, Measures, Prediction
from grpo_ref.lab.framework.statistics import (
    SKEWED,
    Estimate,
    estimates,
    interquartile_mean,
    interval,
    skewness,
)
from grpo_ref.lab.framework.tuning import TunedArm, at_equal_values, choice_variance

Outcome = Literal["holds", "negligible", "opposite", "undecided"]
"""Outcome of a prediction."""
Verdict = Literal["supported", "negligible", "opposite", "undecided", "mixed"]
"""Verdict on a claim, or on a clause of a claim."""
Interval = tuple[float, float, float]
"""Mean, lower and upper end of a 95 % interval."""


class Finding(NamedTuple):
    """Outcome of one prediction.

    Attributes:
      prediction: the prediction.
      estimate: the paired difference.
      outcome: outcome by the rule of `outcome`.
      share: fraction of the pairs whose difference has the predicted sign, or lies within the margin if
        equality was predicted.
      middle: interquartile mean of the differences with its interval if the differences are skewed; or None.
      choice: fraction of the variance of the mean that is due to the choice of settings.
      at_equal: value of the setting -> difference with both arms at this value, on the tuning tasks, with
        its own 95 % interval; empty if an arm has no tuned setting.
    """

    prediction: Prediction
    estimate: Estimate
    outcome: Outcome
    share: float
    middle: Interval | None = None
    choice: float = 0.0
    at_equal: Mapping[Any, Interval] = {}

    @property
    def smallest(self) -> float:
        """Smallest difference that could have been detected, in units of the measure."""
        return self.prediction.margin + (self.estimate.high - self.estimate.low) / 2.0

    @property
    def is_theorem(self) -> bool:
        """True if all pairs have the same difference, so that the prediction follows from the algebra."""
        return self.outcome == "holds" and self.estimate.low == self.estimate.high


class ClauseResult(NamedTuple):
    """Result of one clause of a claim.

    Attributes:
      text: the clause.
      outcomes: outcomes of the predictions that decide the clause.
    """

    text: str
    outcomes: tuple[Outcome, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict on the clause."""
        return verdict(self.outcomes)


class ClaimResult(NamedTuple):
    """Result of an experiment.

    Attributes:
      measures: arm -> its measures.
      findings: one finding for each prediction.
      clauses: one result for each clause of the claim; empty if the claim has only one.
      tuning: arm -> its results on the tuning tasks; empty if nothing was chosen.
    """

    measures: Mapping[str, Measures]
    findings: tuple[Finding, ...]
    clauses: tuple[ClauseResult, ...]
    tuning: Mapping[str, TunedArm]

    @property
    def deciding(self) -> list[Outcome]:
        """Outcomes that decide the verdict if the claim has a single clause.

        The main predictions decide, or all if none is main. A theorem decides only among theorems.
        """
        main = [one for one in self.findings if one.prediction.main] or self.findings
        measured = [one for one in main if not one.is_theorem] or main
        return [one.outcome for one in measured]

    @property
    def verdict(self) -> Verdict:
        """The verdict on the claim, by the rule of `combined`."""
        if self.clauses:
            return combined([clause.verdict for clause in self.clauses])
        return verdict(self.deciding)


def judged(
    experiment: Experiment, measures: Mapping[str, Measures], tuning: Mapping[str, TunedArm] | None = None
) -> ClaimResult:
    """Compare the arms and return the verdict.

    Args:
      experiment: the claim and its predictions.
      measures: arm -> its measures. With a distribution of tasks, each number is the mean of a task's seeds.
      tuning: arm -> its results on the tuning tasks. Their noise enters the intervals.

    Raises:
      ValueError: if an arm lacks a measure, or the measure is not one number per seed.
    """
    tuning = tuning or {}
    differences = [_difference(one, measures) for one in experiment.predictions]
    variances = [
        choice_variance(one.measure, tuning.get(one.left), tuning.get(str(one.right)))
        for one in experiment.predictions
    ]
    findings = tuple(
        Finding(
            one,
            estimate,
            outcome(estimate, one.expect, one.margin),
            _share(one, difference),
            interquartile_mean(difference, len(differences)) if abs(skewness(difference)) > SKEWED else None,
            variance / (variance + difference.var(ddof=1) / len(difference)) if variance else 0.0,
            _at_equal(one, tuning),
        )
        for one, estimate, difference, variance in zip(
            experiment.predictions, estimates(differences, variances), differences, variances, strict=True
        )
    )
    by_text = {one.prediction.says: one.outcome for one in findings}
    clauses = tuple(
        ClauseResult(clause.text, tuple(by_text[says] for says in clause.decided_by))
        for clause in experiment.clauses
    )
    return ClaimResult(measures, findings, clauses, tuning)


def _at_equal(prediction: Prediction, tuning: Mapping[str, TunedArm]) -> dict[Any, Interval]:
    """Return value -> difference with its interval, with both arms at the same value of their setting."""
    left, right = tuning.get(prediction.left), tuning.get(str(prediction.right))
    if left is None or right is None:
        return {}
    intervals = {}
    for value, difference in at_equal_values(prediction.measure, left, right).items():
        mean, reach = (float(part) for part in interval(difference))
        intervals[value] = (mean, mean - reach, mean + reach)
    return intervals


def _share(prediction: Prediction, difference: Floats) -> float:
    predicted = {
        "more": difference > 0.0,
        "less": difference < 0.0,
        "same": abs(difference) <= prediction.margin,
    }
    return float(predicted[prediction.expect].mean())


def _difference(prediction: Prediction, measures: Mapping[str, Measures]) -> Floats:
    left = _numbers(prediction.measure, prediction.left, measures)
    if isinstance(prediction.right, str):
        return left - _numbers(prediction.measure, prediction.right, measures)
    return left - prediction.right


def _numbers(measure: str, label: str, measures: Mapping[str, Measures]) -> Floats:
    if label not in measures or measure not in measures[label]:
        raise ValueError(f"{measure}: arm {label!r} has no such measure")
    numbers = measures[label][measure]
    if numbers.ndim != 1:
        shape = numbers.shape
        raise ValueError(f"{measure}: expected one number per seed in arm {label!r}, got shape {shape}")
    return numbers


def outcome(estimate: Estimate, expect: Expectation, margin: float) -> Outcome:
    """Decide whether one prediction holds, by the whole interval.

    Args:
      estimate: difference of left minus right.
      expect: "more" or "less": left is greater (smaller) than right by more than the margin. "same": left and
        right differ by at most the margin.
      margin: the largest difference that is negligible, in units of the measure.

    Returns:
      "holds" if the whole interval agrees with the prediction. "opposite" if the whole interval lies beyond
      the margin on the other side, or on either side if equality was predicted. "negligible" if a difference
      was predicted and the whole interval lies within the margin. "undecided" otherwise.

    >>> outcome(Estimate(0.5, 0.2, 0.8, 0.0, 1.0, 64), "more", 0.1)
    'holds'
    >>> outcome(Estimate(0.5, 0.2, 0.8, 0.0, 1.0, 64), "same", 0.1)
    'opposite'
    >>> outcome(Estimate(0.02, -0.01, 0.05, 0.0, 1.0, 64), "more", 0.1)
    'negligible'
    """
    above, below = estimate.low > margin, estimate.high < -margin
    within = -margin <= estimate.low and estimate.high <= margin
    if expect == "same":
        return "holds" if within else "opposite" if above or below else "undecided"
    if within:
        return "negligible"
    holds, opposite = (above, below) if expect == "more" else (below, above)
    return "holds" if holds else "opposite" if opposite else "undecided"


def verdict(outcomes: Sequence[Outcome]) -> Verdict:
    """Return the verdict that these outcomes give: their common outcome, else "mixed".

    >>> verdict(["holds", "holds"]), verdict(["holds", "opposite"])
    ('supported', 'mixed')
    """
    return combined(["supported" if one == "holds" else one for one in outcomes])


def combined(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the common verdict, else "mixed". A refuted part is never hidden behind another part.

    >>> combined(["supported", "supported"]), combined(["undecided", "opposite"])
    ('supported', 'mixed')
    """
    first, *others = verdicts
    return first if all(one == first for one in others) else "mixed"


def tally(verdicts: Sequence[str]) -> str:
    """Count verdicts or outcomes, those that refute first.

    >>> tally(["supported", "opposite", "supported"])
    '1 opposite, 2 supported'
    """
    order = ("opposite", "mixed", "negligible", "undecided", "holds", "supported")
    return ", ".join(f"{verdicts.count(each)} {each}" for each in order if each in verdicts)


def verdict_text(verdict: Verdict, parts: Sequence[str], depends_on: str = "") -> str:
    """Return a verdict in words. A mixed verdict lists its parts, and what it depends on if that is known.

    Args:
      verdict: the verdict.
      parts: verdicts of the clauses, or outcomes of the predictions that decide.
      depends_on: what the verdict was measured to depend on, or "".

    >>> verdict_text("mixed", ["supported", "opposite"], "the learning rate")
    'mixed (1 opposite, 1 supported): depends on the learning rate'
    """
    if verdict != "mixed":
        return verdict
    return f"mixed ({tally(parts)})" + (f": depends on {depends_on}" if depends_on else "")
