"""Rules hold for all wrong samples; round bounds, no more conditions than needed, none by luck."""

import numpy as np
import pytest

from grpo_ref.course.grading.symptoms.rules import between, rule_for

SIZES = np.arange(40.0)
EVEN = SIZES % 2 == 0


def rule(columns, wrong, independent=None):
    wrong = np.asarray(wrong)
    return rule_for(columns, wrong, int(wrong.sum()) if independent is None else independent)


def test_a_clause_that_holds_exactly_where_samples_are_wrong():
    found = rule({"G is even": EVEN, "G": SIZES}, EVEN)
    assert (found.text, found.wrong, found.covered, found.others) == ("G is even", 20, 20, 20)
    assert found.is_exact


@pytest.mark.parametrize(
    ("wrong", "text"),
    [(SIZES > 29, "G is above 29"), (SIZES < 6, "G is below 6"), (SIZES >= 35, "G is above 34")],
)
def test_a_bound_lies_between_right_and_wrong(wrong, text):
    assert rule({"G": SIZES}, wrong).text == text


def test_two_conditions_where_one_is_not_precise():
    found = rule({"G": SIZES, "G is even": EVEN, "P": np.ones(40)}, EVEN & (SIZES > 20))
    assert found.is_exact
    assert set(found.text.split(" and ")) == {"G is above 20", "G is even"}


def test_a_few_right_samples_may_be_covered():
    wrong = SIZES > 19
    wrong[25] = False
    found = rule({"G": SIZES}, wrong)
    assert (found.text, found.covered - found.wrong) == ("G is above 19", 1)


def test_what_luck_could_have_made_is_no_rule():
    columns = {f"clause {number}": np.arange(12) % (number + 2) == 0 for number in range(9)}
    one = np.zeros(12, dtype=bool)
    one[0] = True
    assert rule(columns, one) is None


def test_samples_that_depend_on_one_another_count_once():
    assert rule({"G": SIZES}, SIZES > 29, independent=1) is None


def test_wrong_samples_that_nothing_sets_apart_have_no_rule():
    assert rule({"G is even": EVEN}, SIZES % 3 == 0) is None


def test_a_number_that_is_missing_somewhere_says_nothing_there():
    values = np.where(EVEN, SIZES, np.nan)
    assert rule({"x": values, "G is even": EVEN}, EVEN & (SIZES > 20)).is_exact
    assert rule({"x": values}, SIZES > 20) is None


def test_further_samples_count_too_or_refute_a_rule():
    found = rule({"G": SIZES}, SIZES > 29)
    more = {"G": np.array([5.0, 35.0])}
    counted = found.tested(more, np.array([False, True]))
    assert (counted.wrong, counted.covered, counted.others) == (11, 11, 31)
    assert found.tested(more, np.array([True, True])) is None
    assert found.tested(more, np.array([False, False])) is None
    assert found.tested({"P": np.array([5.0, 35.0])}, np.array([False, True])) is None


@pytest.mark.parametrize(
    ("low", "high", "number"),
    [(0.93, 1.2, 1.0), (-0.3, 0.2, 0.0), (1.0, 1.0000001, 1.0), (3e-7, 2e-6, 8e-7), (-5.0, -3.0, -4.0)],
)
def test_a_number_with_few_digits_lies_between_two(low, high, number):
    assert between(low, high) == number
