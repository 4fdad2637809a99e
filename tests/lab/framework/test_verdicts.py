"""Outcomes and verdicts by rule, and what the rule refuses to judge."""

from dataclasses import replace

import numpy as np
import pytest
from toy_experiment import TOY

from grpo_ref.lab.framework.experiment import Clause, Prediction
from grpo_ref.lab.framework.statistics import Estimate
from grpo_ref.lab.framework.verdicts import Finding, judged, outcome, verdict, verdict_text

# low, high, expect, margin -> outcome
OUTCOMES = {
    "whole interval above": (0.1, 0.3, "more", 0.0, "holds"),
    "above, but not beyond the margin": (0.1, 0.3, "more", 0.2, "undecided"),
    "zero inside": (-0.1, 0.3, "more", 0.0, "undecided"),
    "whole interval below": (-0.3, -0.1, "more", 0.0, "opposite"),
    "less, and below": (-0.3, -0.1, "less", 0.0, "holds"),
    "less, but above": (0.1, 0.3, "less", 0.05, "opposite"),
    "the same within the margin": (-0.1, 0.1, "same", 0.1, "holds"),
    "perhaps the same": (-0.1, 0.11, "same", 0.1, "undecided"),
    "more was predicted, but no difference matters": (-0.1, 0.2, "more", 0.2, "negligible"),
    "less was predicted, but no difference matters": (0.0, 0.2, "less", 0.2, "negligible"),
    "not the same": (0.11, 0.3, "same", 0.1, "opposite"),
    "not the same, below": (-0.3, -0.11, "same", 0.1, "opposite"),
}


@pytest.mark.parametrize(("low", "high", "expect", "margin", "expected"), OUTCOMES.values(), ids=OUTCOMES)
def test_outcome(low, high, expect, margin, expected):
    assert outcome(Estimate((low + high) / 2, low, high, 0.0, 1.0, 9), expect, margin) == expected


RULE = {
    "all hold": (["holds", "holds"], "supported"),
    "some hold": (["holds", "opposite"], "mixed"),
    "none holds, and one is refuted": (["undecided", "opposite"], "mixed"),
    "nothing matters": (["negligible", "negligible"], "negligible"),
    "nothing is decided": (["undecided"], "undecided"),
    "all opposite": (["opposite", "opposite"], "opposite"),
}


@pytest.mark.parametrize(("outcomes", "expected"), RULE.values(), ids=RULE)
def test_verdict(outcomes, expected):
    assert verdict(outcomes) == expected


def test_missing_and_misshapen_measures_are_named():
    with pytest.raises(ValueError, match="level: arm 'high' has no such measure"):
        judged(TOY, {"low": {"level": np.ones(3)}, "high": {}})
    with pytest.raises(
        ValueError, match=r"level: expected one number per seed in arm 'high', got shape \(3, 2\)"
    ):
        judged(TOY, {"low": {"level": np.ones(3)}, "high": {"level": np.ones((3, 2))}})


def test_what_is_exact_decides_nothing_beside_what_was_measured():
    exact = Prediction("Two is more than one", "level", "high", "more", "low")
    measured = Prediction("High is above two", "level", "high", "more", 2.0)
    levels = np.array([0.0, 1.0, 5.0])
    measures = {"low": {"level": levels}, "high": {"level": levels + 1.0}}
    found = judged(replace(TOY, predictions=(exact, measured)), measures)
    assert [one.is_theorem for one in found.findings] == [True, False]
    assert [one.outcome for one in found.findings] == ["holds", "undecided"]
    assert found.verdict == "undecided"
    assert judged(replace(TOY, predictions=(exact,)), measures).verdict == "supported"
    refuted = exact._replace(expect="less")
    assert judged(replace(TOY, predictions=(exact, refuted)), measures).verdict == "opposite"


def test_the_smallest_difference_that_would_have_been_shown():
    prediction = Prediction("High is above low", "level", "high", "more", "low", margin=0.5)
    finding = Finding(prediction, Estimate(0.0, -1.0, 1.0, 1.0, 0.0, 9), "undecided", 0.5)
    assert finding.smallest == 1.5


def test_a_refuted_clause_is_not_hidden_behind_main_predictions_that_hold():
    rises = Prediction("High is above low", "level", "high", "more", "low", main=True)
    falls = Prediction("High is below low", "level", "high", "less", "low")
    levels = np.array([0.0, 1.0, 5.0])
    measures = {"low": {"level": levels}, "high": {"level": levels + np.array([1.0, 1.1, 0.9])}}
    whole = replace(TOY, predictions=(rises, falls))
    assert judged(whole, measures).verdict == "supported"
    clauses = (Clause("It rises.", (rises.says,)), Clause("It falls.", (falls.says,)))
    found = judged(replace(whole, clauses=clauses), measures)
    assert [(one.text, one.verdict) for one in found.clauses] == [
        ("It rises.", "supported"),
        ("It falls.", "opposite"),
    ]
    assert found.verdict == "mixed"
    assert (
        verdict_text(found.verdict, [one.verdict for one in found.clauses])
        == "mixed (1 opposite, 1 supported)"
    )
