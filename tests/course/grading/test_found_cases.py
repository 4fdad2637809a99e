"""Frozen cases: what is written is what is read, and a check of them catches what it was frozen for."""

import json

import numpy as np
import pytest

from grpo_ref.course.grading.found_cases import FoundCases, found_cases, frozen, inputs_of, thawed
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.problem import Case, Problem
from grpo_ref.course.grading.sampled_check import own_checks

VALUES = {
    "a number": 0.1,
    "a whole number": 3,
    "NaN": float("nan"),
    "minus infinity": -np.inf,
    "text and nothing": ["a", None, True],
    "a tuple in a dict": {"x": (1, 2.5)},
    "an array with special numbers": np.array([[1.0, np.nan], [np.inf, -np.inf]]),
    "integers": np.array([[1, 2], [3, 4]]),
    "truth values": np.array([True, False]),
    "an array without axes": np.array(1.5),
    "an empty array": np.zeros((0, 3)),
    "a NumPy number": np.float64(2.5),
    "memory in the other order": np.asfortranarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
}


def parts(value):
    """Everything that must survive, so that it can be compared."""
    if isinstance(value, np.ndarray | np.generic):
        return type(value), value.dtype, value.shape, value.flags.f_contiguous, value.tobytes()
    return type(value), repr(value)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_is_read_as_it_was_written(value):
    assert parts(thawed(json.loads(json.dumps(frozen(value), allow_nan=False)))) == parts(value)


def test_what_is_no_data_is_refused():
    with pytest.raises(TypeError, match="of type function"):
        frozen(parts)


FILE = {
    "kinds": {
        "type": {
            "name": "Whole numbers",
            "why": "They are numbers too.",
            "cases": [
                {"arguments": [{"int64": [1, 2]}], "keywords": {}, "expected": {"float64": [0.5, 1.0]}},
                {"arguments": [[-1]], "keywords": {"by": 0}, "raises": "ValueError"},
            ],
        }
    }
}


def halves(x, by=2):
    if by == 0:
        raise ValueError("by 0")
    return np.asarray(x, dtype=float) / by


@pytest.fixture
def problem(tmp_path):
    """An exercise with one check of its author and one of found cases."""
    (tmp_path / "cases.json").write_text(json.dumps(FILE))
    own = Case("One", ([2.0],), np.array([1.0]), why="half of two")
    checks = (own, *found_cases(tmp_path))
    return Problem("a/halves", "Halves", "halves", halves, checks, ())


def test_without_a_file_there_are_no_checks(tmp_path):
    assert found_cases(tmp_path) == ()


def test_the_file_makes_one_check_of_each_kind(problem):
    assert [check.name for check in problem.checks] == ["One", "Whole numbers"]
    assert [check.name for check in own_checks(problem)] == ["One"]
    assert isinstance(problem.checks[1], FoundCases)
    assert [each.raises for each in inputs_of(problem.checks[1].path)["type"]] == ["", "ValueError"]


def test_a_right_answer_passes(problem):
    assert grade(problem, halves).status == "passed"


def doubled_in_place(x, by=2):
    value = halves(x, by)
    if isinstance(x, np.ndarray):
        x += x
    return value


WRONG = {
    "keeps integers": (
        lambda x, by=2: np.asarray(x) // by,
        "1 of 2 are wrong; the first, 0.0 at index [0], is too small",
    ),
    "does not refuse": (lambda x, by=2: np.asarray(x, dtype=float) / 2, "expected a ValueError, but a value"),
    "refuses with another error": (lambda x, by=2: [1 / by][0] * np.asarray(x), "got another error"),
    "changes its input": (doubled_in_place, "an input was changed"),
}


@pytest.mark.parametrize(("answer", "wrong"), WRONG.values(), ids=WRONG)
def test_a_wrong_answer_is_told_what_is_wrong(problem, answer, wrong):
    result = grade(problem, answer).results[1]
    assert not result.passed
    assert wrong in result.wrong
    assert result.called.startswith("halves(")
    assert result.why == "They are numbers too."
