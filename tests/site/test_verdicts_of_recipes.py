"""The recipes' pages call a result by the outcome that is stored for it."""

import re
from functools import cache
from pathlib import Path

import pytest

from grpo_ref.lab.claim_results import load, policies_in

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs/experiments"
PAGES = sorted((ROOT / "docs/recipe").glob("*.md"))
SECTION = re.compile(r"^## When to use it.*?(?=^## )", re.MULTILINE | re.DOTALL)
CLAIM = re.compile(r"experiments/(\w+)/README\.md")
NUMBER = r"[+−]?\d+(?:\.\d+)?"
INTERVAL = re.compile(rf"\[({NUMBER}), ({NUMBER})\]")


def _digits(shown):
    return len(shown.partition(".")[2])


def _is(shown, value):
    """A number of the page is this value, in its units or in points, up to its last digit."""
    number, step = float(shown.replace("−", "-")), 10.0 ** -_digits(shown)
    return any(abs(number - scale * value) <= 0.51 * step for scale in (1.0, 100.0))


@cache
def _findings(claim):
    """The predictions of a claim, with a table and with a network."""
    results = load(FOLDER / claim)
    return [finding for policy in policies_in(results) for finding in results[policy]["findings"]]


def _constant(finding):
    """The number that the prediction is compared with, or 0 if it compares two arms."""
    try:
        return float(finding["right"])
    except ValueError:
        return 0.0


def _outcomes(low, high, claims):
    """The outcomes of the predictions of these claims with this interval.

    The page may give the interval with other signs, or of the measure itself instead of its difference from
    a constant.
    """
    return {
        finding["outcome"]
        for claim in claims
        for finding in _findings(claim)
        for shift in (0.0, _constant(finding))
        if (_is(low, finding["low"] + shift) and _is(high, finding["high"] + shift))
        or (_is(low, -finding["high"] - shift) and _is(high, -finding["low"] - shift))
    }


def _wrong(text):
    """The rows with an interval that is not stored, or whose outcome the row does not name."""
    section = SECTION.search(text)
    body = section[0] if section else ""
    claims = set(CLAIM.findall(body))
    for row in re.split(r"\n(?=\|)|\n\n", body):
        for low, high in INTERVAL.findall(row):
            outcomes = _outcomes(low, high, claims)
            if not any(outcome in row.lower() for outcome in outcomes):
                yield row, (low, high), outcomes


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_result_is_called_by_its_stored_outcome(page):
    assert list(_wrong(page.read_text(encoding="utf-8"))) == []


def test_an_interval_that_is_not_stored_is_noticed():
    text = (ROOT / "docs/recipe/gspo.md").read_text(encoding="utf-8")
    old = text.replace("−16.9, −1.3", "−2.7, +5.9")
    assert [(interval, outcomes) for _, interval, outcomes in _wrong(old)] == [(("−2.7", "+5.9"), set())]


def test_another_outcome_is_noticed():
    text = (ROOT / "docs/recipe/gspo.md").read_text(encoding="utf-8")
    assert "**Undecided**, each at its best" in text
    mutant = text.replace("**undecided**", "**behind**").replace("**Undecided**", "**Better**")
    assert ("−16.9", "−1.3") in [interval for _, interval, _ in _wrong(mutant)]
