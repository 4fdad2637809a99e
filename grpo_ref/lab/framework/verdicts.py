"""Decide by rule which predictions hold, and the verdict on the claim."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import Expectation, Experiment, Measures, Prediction
from grpo_ref.lab.framework.statistics import Estimate, estimates

Outcome = Literal["holds", "opposite", "not shown"]
"""Outcome of a prediction."""
ClaimVerdict = Literal["supported", "not shown", "opposite", "depends"]
"""Verdict on a claim."""
Scores = dict[Any, Floats]
"""Value of a setting -> (S,) the measure by which the setting is chosen."""


class Finding(NamedTuple):
    """Outcome of one prediction.

    Attributes:
      prediction: the prediction.
      estimate: the paired difference.
      outcome: outcome by the rule of `outcome`.
      share: fraction of the pairs whose difference has the predicted sign, or lies within the margin if
        equality was predicted.
    """

    prediction: Prediction
    estimate: Estimate
    outcome: Outcome
    share: float

    @property
    def smallest(self) -> float:
        """Smallest difference that could have been detected, in units of the measure."""
        return self.prediction.margin + (self.estimate.high - self.estimate.low) / 2.0

    @property
    def is_theorem(self) -> bool:
        """True if all pairs have the same difference, so that the prediction follows from the algebra."""
        return self.outcome == "holds" and self.estimate.low == self.estimate.high


class ClaimResult(NamedTuple):
    """Result of an experiment.

    Attributes:
      measures: arm -> its measures.
      findings: one finding for each prediction.
      verdict: verdict by the rule of `verdict`.
      tuning: arm -> value of its setting -> scores of the value; empty if nothing was chosen.
    """

    measures: Mapping[str, Measures]
    findings: tuple[Finding, ...]
    verdict: ClaimVerdict
    tuning: Mapping[str, Scores]


def judged(
    experiment: Experiment, measures: Mapping[str, Measures], tuning: Mapping[str, Scores] | None = None
) -> ClaimResult:
    """Compare the arms and return the verdict.

    Args:
      experiment: the claim and its predictions.
      measures: arm -> its measures. With a distribution of tasks, each number is the mean of a task's seeds.
      tuning: arm -> value of its setting -> scores of the value.

    Raises:
      ValueError: if an arm lacks a measure, or the measure is not one number per seed.
    """
    differences = [_difference(one, measures) for one in experiment.predictions]
    findings = tuple(
        Finding(one, estimate, outcome(estimate, one.expect, one.margin), _share(one, difference))
        for one, estimate, difference in zip(
            experiment.predictions, estimates(differences), differences, strict=True
        )
    )
    deciding = [one for one in findings if one.prediction.main] or findings
    counted = [one for one in deciding if not one.is_theorem] or deciding
    return ClaimResult(measures, findings, verdict([one.outcome for one in counted]), tuning or {})


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

    >>> outcome(Estimate(0.5, 0.2, 0.8, 0.0, 1.0, 64), "more", 0.1)
    'holds'
    >>> outcome(Estimate(0.5, 0.2, 0.8, 0.0, 1.0, 64), "same", 0.1)
    'opposite'
    """
    above, below = estimate.low > margin, estimate.high < -margin
    if expect == "same":
        within = -margin <= estimate.low and estimate.high <= margin
        return "holds" if within else "opposite" if above or below else "not shown"
    holds, opposite = (above, below) if expect == "more" else (below, above)
    return "holds" if holds else "opposite" if opposite else "not shown"


def verdict(outcomes: Sequence[Outcome]) -> ClaimVerdict:
    """Return the verdict on a claim: supported (opposite) if all outcomes are, "depends" if some hold.

    >>> verdict(["holds", "not shown"])
    'depends'
    """
    if all(one == "holds" for one in outcomes):
        return "supported"
    if all(one == "opposite" for one in outcomes):
        return "opposite"
    return "depends" if "holds" in outcomes else "not shown"
