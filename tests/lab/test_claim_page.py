"""The page of a claim: its parts in their order, and its answer if its text was written for other results."""

from dataclasses import replace
from pathlib import Path

import pytest
from toy_experiment import FAMILY, TOY

from grpo_ref.lab.claim_page import FEW, answer_of, chosen, claim_page
from grpo_ref.lab.claim_results import results_of
from grpo_ref.lab.claim_text import parsed
from grpo_ref.lab.framework.claim import claims_of
from grpo_ref.lab.framework.sweep import run_experiment

NETWORK = replace(FAMILY, name="family_network", beside="family", policy="network")
TEXT = parsed("""---
answer: It does, by {network row 1 mean}.
do: use
advice: Set `gain` to 1.
outcomes: {table: [holds], network: [holds]}
caption: Up it goes.
---

## What it means for your configuration

Set `gain`: {row 1}.

## What this does not show

Much.

## Changed after a look

The margin.
""")


@pytest.fixture(scope="module")
def found():
    return of_claim(FAMILY, NETWORK)


def of_claim(*experiments, seeds=40):
    """Return the claim `family` and its results, of ten tasks by default."""
    named = {one.name: one for one in experiments}
    results = {name: run_experiment(one, seeds=seeds) for name, one in named.items()}
    (claim,) = claims_of(named).values()
    stored = results_of(claim, results, seeds=seeds, seed=0, predictions=Path("nowhere"))
    for policy, stem in (("table", "figure"), ("network", "figure_network")):
        if policy in stored:
            names = (f"{stem}_{number}.svg" for number in (1, 2, 3))
            stored[policy]["figures"] = [{"file": name, "shows": f"See {name}."} for name in names]
    return claim, stored


def test_the_parts_stand_in_the_order_in_which_a_reader_needs_them(found):
    page = claim_page(*found, TEXT, {"other": "Is it other?"})
    parts = [
        "# Does the family differ?",
        "**It does, by +",
        "**The claim.** More is more on every task. (nobody)",
        "![See figure_1.svg.](figure_1.svg)\n![See figure_2.svg.](figure_2.svg)",
        "*Up it goes.*",
        "## What it means for your configuration",
        "## Results",
        "### With a table",
        "](figure_3.svg)",
        "](differences.svg)",
        "### With a network",
        "](figure_network_1.svg)",
        "](figure_network_3.svg)",
        "](differences_network.svg)",
        "Table and network **agree**",
        "## Method",
        "## Limits",
        "Much.",
        "**Changed after a look.** The margin.",
        "## Reproduce",
        "$ grpo-ref experiment run family family_network --seeds 40 --seed 0",
        "Related claims: [Is it other?](../other/README.md)",
    ]
    places = [page.find(part) for part in parts]
    assert [part for part, place in zip(parts, places, strict=True) if place < 0] == []
    assert places == sorted(places)


def test_numbers_come_from_the_results(found):
    results = found[1]
    answer = answer_of(results, TEXT)
    first = results["network"]["findings"][0]
    assert answer.text == f"It does, by +{first['mean']:.3f}."  # its interval has a half-width of 0.04
    assert (answer.do, answer.is_stale) == ("Use it", False)


def test_a_text_for_other_outcomes_is_left_out_and_the_page_says_so(found):
    other = TEXT._replace(outcomes={"table": ["holds"], "network": ["opposite"]})
    answer = answer_of(found[1], other)
    assert answer.text == "With a table, the claim holds. With a network, the claim holds."
    assert (answer.do, answer.advice, answer.is_stale) == ("", "", True)
    page = claim_page(*found, other)
    assert "was written for other results" in page
    assert "Set `gain`" not in page
    assert "**Changed after a look.** The margin." in page  # how it was designed does not depend on results
    assert "was written for other results" not in claim_page(*found, TEXT)
    assert "was written for other results" not in claim_page(*found, None)


def test_few_tasks_have_no_verdict():
    claim, results = of_claim(FAMILY, seeds=4 * (FEW - 1))
    assert answer_of(results, TEXT).text == "There are too few tasks to judge."
    page = claim_page(claim, results, None)
    assert "\n**Verdict: too few tasks to judge.**\n" in page
    assert "| **1** | **High is higher than low** |" in page
    assert "holds**" not in page


def test_a_network_alone_has_the_names_of_a_table():
    alone = replace(FAMILY, policy="network")
    page = claim_page(*of_claim(alone), None)
    assert "](differences.svg)" in page
    assert "### With a table" not in page
    assert "| Seeds | 10 tasks with 2 seeds each." in page


def test_a_row_names_prediction_difference_margin_and_outcome():
    claim, results = of_claim(TOY, seeds=8)
    row = "| 1 | High is higher than low | level: high − low | +1 | 0 | holds (exact) |"
    assert row in claim_page(claim, results, None)
    finding = results["table"]["findings"][1]
    wide = finding | {"outcome": "undecided", "mean": 0.0, "low": -0.6, "high": 0.8, "margin": 0.5}
    results["table"]["findings"][1] = wide
    page = claim_page(claim, results, None).replace("\N{NO-BREAK SPACE}", " ")
    # The half-width is 0.7, so the smallest difference that could have been detected is 0.5 + 0.7.
    shown = "level: low − the number 2 | 0 [−0.60, +0.80] | ±0.5 | undecided (could detect 1.2) |"
    assert shown in page
    assert "All rows decide it: 1 holds and 1 is undecided." in page


def test_a_skewed_difference_has_the_mean_of_its_middle_half(found):
    claim, results = found
    first, *rest = results["table"]["findings"]
    skewed = {**results["table"], "findings": [first | {"middle": [0.5, 0.4, 0.6]}, *rest]}
    page = claim_page(claim, results | {"table": skewed}, None).replace("\N{NO-BREAK SPACE}", " ")
    assert "; middle half +0.50 [+0.40, +0.60] |" in page


def test_differences_at_equal_settings_have_a_table(found):
    assert "| row | 0.1 | 0.3 | 1.0 |" in claim_page(*found, None)


def test_each_assertion_has_its_verdict(found):
    claim, results = found
    of = {policy: [{"text": f"{policy}.", "verdict": "mixed"}] for policy in ("table", "network")}
    of["network"] += [{"text": "table.", "verdict": "opposite"}]
    both = {policy: results[policy] | {"clauses": of[policy]} for policy in of}
    page = claim_page(claim, results | both, None)
    assert "| table. | mixed | opposite |\n| network. | – | mixed |" in page


def test_the_method_says_what_was_chosen_and_when_it_was_predicted(found):
    claim, results = found
    page = claim_page(claim, results, None)
    assert "| Predictions | not written down before the results | not written" in page
    predicted = {"written": "2026-01-02", "sha256": "0123456789abcdef", "tag": "predictions-1"}
    dated = results | {"table": results["table"] | {"predicted": predicted}}
    page = claim_page(claim, dated, None)
    assert "on 2026-01-02, before the results (SHA-256 0123456789ab, Git tag `predictions-1`)" in page
    assert "rate, by level on other tasks: “low” 0.3" in page


def test_an_arm_whose_best_value_is_the_last_one_tried_is_a_limit(found):
    claim, results = found
    sentence = "The best value of “low” is the smallest or the largest one tried"
    assert sentence not in claim_page(claim, results, None)
    low = results["table"]["tuning"]["low"]
    last = list(low["scores"])[-1]
    tuning = results["table"]["tuning"] | {"low": low | {"best": last, "alike": [last]}}
    page = claim_page(claim, results | {"table": results["table"] | {"tuning": tuning}}, None)
    assert sentence in page


def test_a_value_at_the_end_of_its_grid_is_named():
    one = {"setting": "rate", "by": "level", "scores": {"1": 0, "2": 1}, "alike": ["2"], "best": "2"}
    assert chosen({"a": one}) == "rate, by level on other tasks: “a” 2 (largest value)"
    assert chosen({}) == ""
