"""A mistake is named where a known one gives the same, two at once are both named, an unknown one is not."""

import json
from dataclasses import replace

import numpy as np
import pytest

from grpo_ref.course.grading import diagnosis
from grpo_ref.course.grading.diagnosis import RAISED, RIGHT, UNKNOWN, symbol, symbol_of
from grpo_ref.course.grading.found_cases import FoundCases, Input, found_cases
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.problem import Case, Mutant, Problem


def scaled(values, factor=2.0, shift=0.0):
    return np.asarray(values, dtype=float) * factor + shift


def case(name, *arguments):
    return Case(name, arguments, scaled(*arguments), why="by hand")


PROBLEM = Problem(
    id="toys/scaled",
    title="Scaled",
    function="scaled",
    reference=scaled,
    checks=(
        case("Twice", [1.0, 2.0]),
        case("Factors", [1.0, 3.0], 3.0),
        case("More factors", [2.0, 3.0], 5.0),
        case("Shifts", [1.0, 3.0], 2.0, 1.0),
        case("More shifts", [1.0, 4.0], 2.0, 7.0),
    ),
    mutants=(
        Mutant("factor", lambda values, factor=2.0, shift=0.0: scaled(values, 2.0, shift), "No factor."),
        Mutant("shift", lambda values, factor=2.0, shift=0.0: scaled(values, factor), "No shift."),
    ),
    hints=(),
    source="",
)


def test_one_mistake_that_explains_everything_is_named_for_the_whole():
    report = grade(PROBLEM, lambda values, factor=2.0, shift=0.0: 2.0 * np.asarray(values) + shift)
    assert report.diagnosis == "No factor."
    assert {result.likely for result in report.results} == {""}


def test_two_mistakes_at_once_are_both_named_each_at_its_own_tests():
    report = grade(PROBLEM, lambda values, factor=2.0, shift=0.0: 2.0 * np.asarray(values))
    assert report.diagnosis == ""
    assert [result.likely for result in report.results] == [
        "",
        "No factor.",
        "No factor.",
        "No shift.",
        "No shift.",
    ]


def test_a_mistake_that_nobody_knows_is_not_named():
    report = grade(PROBLEM, lambda values, factor=2.0, shift=0.0: 3.0 * np.asarray(values))
    assert report.status == "failed"
    assert (report.diagnosis, {result.likely for result in report.results}) == ("", {""})


def test_a_known_mistake_fails_what_it_would_fail():
    """Only the larger shift is dropped: the known mistake would have failed the smaller one too."""
    report = grade(
        PROBLEM,
        lambda values, factor=2.0, shift=0.0: scaled(values, factor, shift if shift < 5.0 else 0.0),
    )
    assert [result.passed for result in report.results] == [True, True, True, True, False]
    assert (report.diagnosis, {result.likely for result in report.results}) == ("", {""})


def test_one_wrong_value_alone_is_no_evidence():
    one = replace(
        PROBLEM, checks=(*PROBLEM.checks[:1], PROBLEM.checks[1], case("Both", [1.0, 2.0], 3.0, 1.0))
    )
    report = grade(one, lambda values, factor=2.0, shift=0.0: scaled(values) if not shift else [9.0, 9.0])
    assert [result.likely for result in report.results] == ["", "", ""]


def test_several_mistakes_are_only_named_if_they_explain_every_failed_test():
    def answer(values, factor=2.0, shift=0.0):
        return scaled(values, 2.0, shift if shift < 5.0 else 1.0)

    report = grade(PROBLEM, answer)
    assert [result.passed for result in report.results] == [True, False, False, True, False]
    assert (report.diagnosis, {result.likely for result in report.results}) == ("", {""})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.array([1.0, 2.0]), [1.0, 2.0 + 1e-12]),
        (3.0, np.float64(3.0 - 1e-12)),
        ((1.0, [2.0]), (1.0, np.array([2.0]))),
        ({"a": 1.0}, {"a": np.asarray(1.0)}),
        (np.array([0.0, 1.0]), np.array([1e-15, 1.0])),
    ],
)
def test_equal_values_have_equal_symbols(one, other):
    assert symbol_of(one) == symbol_of(other)


@pytest.mark.parametrize("other", [[1.0, 2.001], [[1.0, 2.0]], [1.0, np.nan], "text", None, 10**400, 1.0])
def test_other_values_have_other_symbols(other):
    assert symbol_of([1.0, 2.0]) != symbol_of(other)


def test_right_values_and_values_that_should_have_been_refused():
    assert symbol([1.0], Input((), {}, np.array([1.0])), 1e-9) == RIGHT
    assert symbol([2.0], Input((), {}, np.array([1.0])), 1e-9) == symbol_of([2.0])
    assert symbol([2.0], Input((), {}, None, "ValueError"), 1e-9) == symbol_of([2.0])


@pytest.fixture
def with_data(tmp_path):
    """The problem with three hidden cases of two kinds, and one mistake that is kept as data."""

    def listed(*arguments):
        return {"arguments": list(arguments), "keywords": {}, "expected": scaled(*arguments).tolist()}

    kinds = {
        "formula": {"name": "Formula", "why": "", "cases": [listed([1.0], 3.0), listed([2.0], 4.0)]},
        "rows": {"name": "Rows", "why": "", "cases": [listed([7.0])]},
    }
    (tmp_path / "cases.json").write_text(json.dumps({"kinds": kinds}))
    cubed = [RIGHT, symbol_of([27.0]), symbol_of([128.0]), RIGHT]  # the author's case comes first
    data = {"sentences": ["Cubed."], "mistakes": [[0, "".join(cubed)]]}
    (tmp_path / "mistakes.json").write_text(json.dumps(data))
    checks = found_cases(tmp_path)
    assert all(isinstance(check, FoundCases) for check in checks)
    return replace(PROBLEM, checks=(*PROBLEM.checks[:1], *checks), mutants=())


def test_a_mistake_that_is_kept_as_data_is_named_by_what_it_returned(with_data):
    report = grade(
        with_data,
        lambda values, factor=2.0, shift=0.0: np.asarray(values) * (factor**3 if factor > 2 else 2.0),
    )
    assert [result.passed for result in report.results] == [True, False, True]
    assert report.diagnosis == "Cubed."


def test_an_error_and_a_case_that_was_not_tried_have_symbols_of_their_own(with_data):
    assert len({RIGHT, RAISED, UNKNOWN}) == 3
    assert diagnosis._same([RIGHT, UNKNOWN], [RIGHT, RAISED])
    assert not diagnosis._same([RIGHT, RAISED], [RIGHT, RIGHT])
