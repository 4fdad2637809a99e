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
    [(SIZES > 29, "G is 30 or more"), (SIZES < 6, "G is 5 or less"), (SIZES >= 35, "G is 35 or more")],
)
def test_a_bound_lies_between_right_and_wrong(wrong, text):
    assert rule({"G": SIZES}, wrong).text == text


def test_two_conditions_where_one_is_not_precise():
    found = rule({"G": SIZES, "G is even": EVEN, "P": np.ones(40)}, EVEN & (SIZES > 20))
    assert found.is_exact
    assert set(found.text.split(" and ")) == {"G is 22 or more", "G is even"}


def test_a_few_right_samples_may_be_covered():
    wrong = SIZES > 19
    wrong[25] = False
    found = rule({"G": SIZES}, wrong)
    assert (found.text, found.covered - found.wrong) == ("G is 20 or more", 1)


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
    assert not found.is_refuted(more, np.array([False, True]))
    assert found.is_refuted(more, np.array([True, True]))
    assert found.is_refuted(more, np.array([False, False]))
    assert found.is_refuted({"P": np.array([5.0, 35.0])}, np.array([False, True]))
    counted = found.counted({"G": np.append(SIZES, [28.5, 50.5])}, np.append(SIZES > 29, [False, True]))
    assert (counted.wrong, counted.covered, counted.others) == (11, 11, 31)
    assert found.counted({"G": SIZES}, SIZES > 10) is not None
    assert found.counted({"G": SIZES}, np.ones(40, dtype=bool)) is None


@pytest.mark.parametrize(
    ("low", "high", "number"),
    [(0.93, 1.2, 1.0), (-0.3, 0.2, 0.0), (1.0, 1.0000001, 1.0), (3e-7, 2e-6, 8e-7), (-5.0, -3.0, -4.0)],
)
def test_a_number_with_few_digits_lies_between_two(low, high, number):
    assert between(low, high) == number


# the largest number that is right and the smallest that is wrong -> the clause, and what was not tried
BOUNDS = {
    "near": (1.49, 1.52, "x is above about 1.5", ""),
    "nearly equal": (1.49999, 1.50001, "x is above 1.5", ""),
    "far": (39.73, 95.3, "x is 95 or more", "x is between 40 and 95"),
    "far, and both small": (5.1e-6, 2.3e-5, "x is 2.3e-05 or more", "x is between 5.2e-06 and 2.3e-05"),
    "0 is right, and nearly all else is wrong": (0.0, 1e-12, "x is above 0", ""),
    "0 is right, and nothing small was tried": (0.0, 5.5, "x is 5.5 or more", "x is between 0 and 5.5"),
    "0 is wrong": (-1e-15, 0.0, "x is 0 or more", ""),
    "on both sides of 0": (-1e-9, 1e-9, "x is above 0", ""),
    "large": (5.5, 199.5, "x is 190 or more", "x is between 5.5 and 190"),
}


@pytest.mark.parametrize(("right", "wrong", "text", "unknown"), BOUNDS.values(), ids=BOUNDS)
def test_a_bound_is_only_told_if_numbers_near_it_were_tried_on_both_sides(right, wrong, text, unknown):
    column = np.concatenate([np.linspace(-300.5, right, 20), np.linspace(wrong, 300.5, 20)])
    (clause,) = rule({"x": column}, column >= wrong).clauses
    assert (str(clause), clause.unknown, clause.is_known) == (text, unknown, not unknown)


def test_an_absolute_value_that_is_wrong_at_0_alone():
    sizes = np.concatenate([np.zeros(20), np.geomspace(1e-16, 10.0, 40)])
    assert rule({"the absolute value of v": sizes}, sizes == 0).text == "the absolute value of v is 0"


def test_a_bound_below_is_told_with_the_numbers_on_both_sides():
    column = np.concatenate([np.linspace(-90.0, -44.2, 20), np.linspace(-12.4, 5.5, 30)])
    (clause,) = rule({"x": column}, column < -40).clauses
    assert (str(clause), clause.unknown) == ("x is -44 or less", "x is between -44 and -13")


def test_a_second_condition_that_follows_from_the_first_is_omitted():
    both = rule({"G": SIZES, "G is even": EVEN}, EVEN & (SIZES > 20))
    columns = {"G": SIZES[SIZES % 4 > 0], "G is even": EVEN[SIZES % 4 > 0]}
    wrong = (SIZES > 20)[SIZES % 4 > 0] & columns["G is even"]
    assert len(both.clauses) == 2
    only_even = {name: column[EVEN] for name, column in (("G", SIZES), ("G is even", EVEN))}
    assert both.counted(only_even, (SIZES > 20)[EVEN]).text == "G is 22 or more"
    assert set(both.counted(columns, wrong).text.split(" and ")) == {"G is 22 or more", "G is even"}


def test_of_two_conditions_for_the_same_samples_one_is_kept():
    twins = {"a": EVEN, "b": EVEN.copy(), "G": SIZES}
    both = rule({"a": EVEN, "G": SIZES}, EVEN & (SIZES > 20))
    assert both.counted({**twins, "G": np.where(EVEN, 30.0, 1.0)}, EVEN).text in ("a", "G is 30 or more")


def test_a_condition_with_an_unknown_bound_is_omitted_if_the_other_says_most():
    x = np.where(SIZES % 4 == 2, 100.5 + SIZES, SIZES / 10.0)
    wrong = (SIZES >= 16) & (SIZES % 4 != 2)
    found = rule({"G": SIZES, "x": x}, wrong)
    assert (found.text, found.is_exact) == ("G is 16 or more", False)


def test_of_equal_rules_the_one_with_a_known_bound_is_told():
    wrong = SIZES > 29
    assert rule({"x": np.where(wrong, 95.5, 3.5) + SIZES / 100, "G": SIZES}, wrong).text == "G is 30 or more"


def test_a_right_number_near_the_bound_may_be_right_for_another_reason():
    x = np.linspace(0.025, 1.975, 40)
    wrong = (x > 1.5) & EVEN
    right_anyway = wrong.copy()
    right_anyway[[30, 32]] = False
    (clause,) = rule({"x": x}, x > 1.5).clauses
    assert str(clause) == "x is above about 1.5"
    vague = rule({"x": x, "G is even": EVEN}, x > 1.5).counted({"x": x}, right_anyway)
    assert not vague.is_known
    assert vague.text == "x is 1.7 or more"


def test_that_a_number_exists_is_no_second_condition():
    width = np.where(EVEN, np.maximum(SIZES, 1.0), np.nan)
    columns = {"the width": width, "there is a width": EVEN}
    found = rule(columns, EVEN & (SIZES > 20))
    assert found.text == "the width is 22 or more"
    assert found.is_exact
    assert rule({"the width": width}, EVEN) is None
