"""Verdicts by rule: does each prediction hold, and what does that make of the claim?"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import Expectation, Experiment, Measures, Prediction
from grpo_ref.lab.framework.statistics import Estimate, estimates

Outcome = Literal["holds", "opposite", "not shown"]
"""Of a prediction."""
ClaimVerdict = Literal["supported", "not shown", "opposite", "depends"]
"""On a claim."""
Scores = dict[Any, Floats]
"""Value of a setting -> (S,) the measure by which it is chosen."""


class Finding(NamedTuple):
    """How one prediction turned out.

    Attributes:
      prediction: what was said beforehand.
      estimate: the paired difference.
      outcome: by the rule of `outcome`.
      share: of the pairs, those whose difference has the predicted sign, or lies within the margin where
        equality was predicted.
    """

    prediction: Prediction
    estimate: Estimate
    outcome: Outcome
    share: float

    @property
    def smallest(self) -> float:
        """The smallest difference that would have been shown, in units of the measure."""
        return self.prediction.margin + (self.estimate.high - self.estimate.low) / 2.0

    @property
    def is_theorem(self) -> bool:
        """Whether it holds with the same difference in all pairs: no experiment was needed to know it."""
        return self.outcome == "holds" and self.estimate.low == self.estimate.high


class ClaimResult(NamedTuple):
    """What an experiment showed.

    Attributes:
      measures: arm -> its measures.
      findings: one for each prediction.
      verdict: by the rule of `verdict`.
      tuning: arm -> value of its setting -> its scores; empty if nothing was chosen.
    """

    measures: Mapping[str, Measures]
    findings: tuple[Finding, ...]
    verdict: ClaimVerdict
    tuning: Mapping[str, Scores]


def judged(
    experiment: Experiment, measures: Mapping[str, Measures], tuning: Mapping[str, Scores] | None = None
) -> ClaimResult:
    """Compare the arms and give the verdict.

    Args:
      experiment: the claim and its predictions.
      measures: arm -> its measures; of a family, each number is the mean of a task's seeds.
      tuning: arm -> value of its setting -> its scores.

    Raises:
      ValueError: if an arm lacks a measure, or has it in another shape than one number per seed.
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
    """Does one prediction hold? The whole interval decides.

    Args:
      estimate: of left minus right.
      expect: "more" or "less": left is greater (smaller) than right by more than the margin; "same": they
        differ by no more than the margin either way.
      margin: the largest difference that does not matter, in units of the measure.

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
    """On the whole claim: supported or opposite if all that decide are; it depends if only some hold.

    >>> verdict(["holds", "not shown"])
    'depends'
    """
    if all(one == "holds" for one in outcomes):
        return "supported"
    if all(one == "opposite" for one in outcomes):
        return "opposite"
    return "depends" if "holds" in outcomes else "not shown"
