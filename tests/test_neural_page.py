"""docs/neural.md: the table of recipes is computed from the stored runs, and its intervals are honest."""

import json
import re

import numpy as np
import pytest
from neural_curves import PLACE, interval
from student import ROOT

from grpo_ref import TASKS
from grpo_ref.lab import EXPERIMENTS
from grpo_ref.rewards import soft_overlong_punishment

TEXT = (ROOT / "docs" / "neural.md").read_text(encoding="utf-8")
CELL = re.compile(r"\*{0,2}(\.\d{3})\*{0,2} \[(\.\d{3}), (\.\d{3})\]")
TABLE = [[cell.strip() for cell in line.split("|")[1:-1]] for line in TEXT.splitlines() if CELL.search(line)]
ROWS = {name.replace("`", ""): cells for name, *cells in TABLE}


def rates(task, recipe, end):
    """The rates of right answers of each seed, on held-out prompts."""
    runs = json.loads((PLACE / f"{task}.json").read_text(encoding="utf-8"))
    return np.array([run[f"held out, sampled, {end}"] for run in runs if run["recipe"] == recipe])


@pytest.mark.parametrize("name", ROWS)
def test_a_row_has_the_means_and_intervals_of_the_stored_runs(name):
    recipe, end = ("grpo", "before") if name == "before" else (name, "after")
    for task, cell in zip(("sums", "sorting"), ROWS[name], strict=True):
        found = rates(task, recipe, end)
        assert bool(cell) == (len(found) > 0)
        if len(found):
            expected = (found.mean(), *interval(found))
            shown = [float(number) for number in CELL.fullmatch(cell).groups()]
            np.testing.assert_allclose(shown, expected, atol=5.001e-4)


def test_the_doubled_penalty_is_the_only_one_with_which_dapo_does_not_learn():
    assert len(ROWS) == 8
    assert (rates("sums", "dapo", "after") > 0.8).all()
    assert (rates("sums", "dapo, penalty doubled", "after") == 0.0).all()


def test_a_right_sum_fills_the_budget_and_a_right_list_ends_before_the_penalty():
    """The end of a completion is a token too. Four digits are sorted by at most 6 swaps of neighbours."""
    sums, sorting = TASKS["sums"](), TASKS["sorting"]()
    assert soft_overlong_punishment(np.array([len("51.60.065") + 1]), sums.max_length) == -1.0
    assert soft_overlong_punishment(np.array([6 * len(">1234") + 1]), sorting.max_length) == 0.0


def test_the_interval_of_8_seeds_covers_the_mean_as_often_as_it_says():
    """For normal data Student's interval is exact: 95 % of 4000 draws, give or take 3 standard errors.

    A standard error is sqrt(0.95 * 0.05 / 4000) = 0.0034.
    """
    drawn = np.random.default_rng(0).normal(size=(8, 4000))
    low, high = interval(drawn)
    assert np.mean((low <= 0.0) & (high >= 0.0)) == pytest.approx(0.95, abs=0.0104)


def test_the_page_counts_the_claims_of_networks():
    networks = [one for one in EXPERIMENTS.values() if one.policy == "network"]
    both = sum(bool(one.beside) for one in networks)
    claims = len(EXPERIMENTS) - both
    assert (
        f"Of the {claims} claims of the experiments, {len(networks)} are tested with small networks like"
        f" these, and {both} of the {len(networks)} with a table too."
    ) in TEXT
