"""Verdicts by rule: does each prediction hold, and what does that make of the claim?"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.experiment import Expectation, Experiment, Measures, Prediction
from grpo_ref.experiments.framework.statistics import Estimate, estimates

Outcome = Literal["holds", "opposite", "not shown"]
"""Of a prediction."""
ClaimVerdict = Literal["supported", "not supported", "opposite", "depends"]
"""On a claim."""


class Finding(NamedTuple):
    """How one prediction turned out."""

    prediction: Prediction
    estimate: Estimate
    outcome: Outcome


class ClaimResult(NamedTuple):
    """What an experiment showed.

    Attributes:
      measures: arm -> its measures.
      findings: one for each prediction.
      verdict: by the rule of `verdict`.
    """

    measures: Mapping[str, Measures]
    findings: tuple[Finding, ...]
    verdict: ClaimVerdict


def judged(experiment: Experiment, measures: Mapping[str, Measures]) -> ClaimResult:
    """Compare the arms and give the verdict.

    Raises:
      ValueError: if an arm lacks a measure, or has it in another shape than one number per seed.
    """
    differences = [_difference(one, measures) for one in experiment.predictions]
    findings = tuple(
        Finding(one, estimate, outcome(estimate, one.expect, one.margin))
        for one, estimate in zip(experiment.predictions, estimates(differences), strict=True)
    )
    return ClaimResult(measures, findings, verdict([one.outcome for one in findings]))


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
    """On the whole claim: supported or opposite if every prediction is; it depends if only some hold.

    >>> verdict(["holds", "not shown"])
    'depends'
    """
    if all(one == "holds" for one in outcomes):
        return "supported"
    if all(one == "opposite" for one in outcomes):
        return "opposite"
    return "depends" if "holds" in outcomes else "not supported"
