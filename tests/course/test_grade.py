"""A report on one answer: what a student gets to read, and what is not given away."""

import json
from dataclasses import replace

import numpy as np
import pytest
from little_exercise import EXERCISE, RIGHT, mean_row

from grpo_ref.course.grading.domain.arguments import Real
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.problem import Case, Drawn, Holds
from grpo_ref.course.grading.sampled_check import FromDomain


def test_a_right_answer_passes(judged):
    report = judged(RIGHT)
    assert report.status == "passed"
    assert (report.points, report.of) == (4, 4)
    assert report.official


def test_an_untouched_starter_is_not_started(judged):
    report = judged("def mean_row(rows):\n    raise NotImplementedError('tests/mean_row')")
    assert report.status == "not started"
    assert report.points == 0


def test_a_failure_says_what_was_called_what_came_and_what_is_wrong(judged):
    report = judged(
        "import numpy as np\ndef mean_row(rows):\n    print('here')\n    return np.asarray(rows).mean(1)"
    )
    shown, hidden, refused, unchanged = report.results
    assert shown.called == "mean_row([[1.0, 2.0], [3.0, 6.0]])"
    assert shown.got == "[1.5, 4.5]"
    assert shown.wrong == ("2 of 2 are wrong; the first, 1.5 at index [0], is too small; expected [2, 4]")
    assert shown.why == "(1+3)/2 and (2+6)/2"
    assert "expected shape (1,), got shape (2,)" in hidden.wrong
    assert refused.passed  # NumPy's AxisError is a ValueError
    assert unchanged.passed
    assert report.diagnosis == "This is the mean along each row."
    assert "here" in report.printed


def test_the_derivation_of_a_hidden_case_is_not_given_away():
    hidden = Case("Hidden", ([[1.0], [2.0]],), np.array([1.5]), why="(1 + 2) / 2 = 1.5")
    (result,) = grade(replace(EXERCISE, checks=(hidden,)), lambda rows: np.zeros(1)).results
    assert "1.5" not in result.called + result.got + result.wrong + result.why


def test_a_hidden_value_is_not_given_away(judged):
    """The random rows are a hidden test: the message has the answer's own number and no other."""
    report = judged("import numpy as np\ndef mean_row(rows): return np.asarray(rows).sum(0)")
    hidden = report.results[1]
    rows = np.random.default_rng([report.seed, 0, *b"Random rows"]).normal(size=(2, 1))
    assert repr(float(rows.sum())) in hidden.wrong
    assert str(rows.mean())[:8] not in hidden.wrong + hidden.got
    assert report.diagnosis == "This is the sum, not the mean."


def test_an_error_is_told_with_the_students_own_lines(judged):
    report = judged(
        "def mean_row(rows):\n    return helper(rows)\n\ndef helper(rows):\n    return rows / 'x'"
    )
    assert report.results[0].called == "mean_row([[1.0, 2.0], [3.0, 6.0]])"
    assert report.results[0].got.splitlines()[1:] == [
        "line 2, in mean_row: return helper(rows)",
        "line 5, in helper: return rows / 'x'",
    ]


def test_a_syntax_error_is_told_with_its_line(judged):
    report = judged("\ndef mean_row(rows) return 0")
    assert report.results[0].name == "The file can be loaded"
    assert "line 2: def mean_row(rows) return 0" in report.results[0].got


LAZY = """
import numpy as np
class Lazy(list):
    def __iter__(self):
        self.given[...] = 0
        return list.__iter__(self)
class Array:
    __class__ = np.ndarray
    def __array__(self, *_, **__):
        self.given[...] = 0
        return self.given
def mean_row(rows):
    if np.ndim(rows) != 2:
        raise ValueError
    value = {made}
    value.given = rows
    return value
"""


@pytest.mark.parametrize("made", ["Lazy(np.asarray(rows, float).mean(0).tolist())", "Array()"])
def test_a_type_of_the_students_own_runs_no_code_while_its_value_is_sent(judged, made):
    report = judged(LAZY.replace("{made}", made))
    unchanged = next(each for each in report.results if each.name == "Does not modify its inputs")
    assert unchanged.passed or not unchanged.wrong.startswith("an input was")
    assert (report.status == "passed") == made.startswith("Lazy")


@pytest.mark.parametrize("work", ["rows.mean(0)", "rows - 1.0", "rows[:, 0]", "rows * 0.5"])
def test_an_operation_that_lists_do_not_have_is_explained(judged, work):
    report = judged(f"def mean_row(rows):\n    return {work}\n")
    assert "an input may be a nested list: begin with np.asarray" in report.results[0].wrong


def test_another_error_is_not_explained_by_lists(judged):
    assert judged("def mean_row(rows):\n    return len(3)\n").results[0].wrong == "it raised an error"


def test_a_changed_input_is_noticed(judged):
    report = judged(
        RIGHT.replace("return rows.mean(0)", "result = rows.mean(0)\n    rows += 1\n    return result")
    )
    assert [result.name for result in report.results if not result.passed] == ["Does not modify its inputs"]
    assert "is now" in report.results[3].wrong


def test_warnings_cost_nothing_but_are_passed_on(judged):
    report = judged(RIGHT.replace("return rows.mean(0)", "np.array([1.0]) / 0\n    return rows.mean(0)"))
    assert report.status == "passed"
    assert report.warnings == ("RuntimeWarning: divide by zero encountered in divide",)


def test_equal_seeds_give_equal_reports(judged):
    assert judged(RIGHT) == judged(RIGHT)


def test_a_function_at_hand_is_graded_too_but_not_officially():
    report = grade(EXERCISE, mean_row)
    assert report.status == "passed"
    assert not report.official


def test_a_property_that_cannot_be_evaluated_is_a_failure_not_a_crash():
    check = Holds("Sums to one", lambda f: None if f([[1.0]]).sum() == 1 else "no", why="")
    problem = replace(EXERCISE, checks=(check,))
    assert grade(problem, mean_row).status == "passed"
    report = grade(problem, lambda rows: "text")
    assert "using this value failed" in report.results[0].wrong


STRANGE = {
    "a whole number beyond all floats": "10**400",
    "one beyond all decimals": "10**5000",
    "one among others": "[1.0, 10**400]",
    "one in an array": "np.array([10**400])",
    "one in a dict": "{'a': 10**400}",
    "NaN": "[np.nan, np.nan]",
    "a NaN alone": "np.nan",
    "lists of unequal lengths": "[[1.0], [1.0, 2.0]]",
    "half numbers, half something": "[1.0, None, {}, 'a']",
    "arrays of unequal lengths": "[np.zeros(1), np.zeros(2)]",
    "an array of objects": "np.array([None, {}])",
    "a tower": "eval('[' * 30 + ']' * 30)",
    "a tower beyond the limit": "eval('[' * 90 + ']' * 90)",
    "a list in itself": "(lambda itself: itself.append(itself) or itself)([])",
    "a large array": "np.zeros((1000, 1000))",
    "too large an array": "np.zeros((3000, 3000))",
    "an array of many axes": "np.zeros((1,) * 32)",
    "text that cannot be printed": "'\\ud800'",
    "odd keys": "{None: 1, (1, 2): 2, np.nan: 3, '\\ud800': 4}",
    "times": "np.array(['2020-01-01'], 'datetime64[D]')",
    "records": "np.zeros(2, [('a', float)])",
    "a masked array": "np.ma.masked_all(2)",
    "more range than a float": "np.longdouble('1e4000')",
    "complex numbers": "[1j, 2j]",
    "truth values": "np.array([True, False])",
    "letters": "np.array(['a', '\\ud800'])",
    "nothing": "None",
    "an array without numbers": "np.zeros((0, 10**9))",
}


def _every_check(folder):
    """One check of each kind; the property takes for granted that it is given an array of floats."""
    case = {"arguments": [[[1.0], [3.0]]], "keywords": {}, "expected": {"float64": [2.0]}}
    kinds = {"all": {"name": "Found", "why": "", "cases": [case]}}
    (folder / "cases.json").write_text(json.dumps({"kinds": kinds}))
    holds = Holds("Sums", lambda f: None if float(f([[1.0], [3.0]]).sum()) == 2.0 else "no", why="")
    checks = (*EXERCISE.checks, holds, FromDomain(), *found_cases(folder))
    return replace(
        EXERCISE, checks=checks, domain=Domain({"rows": Real("N T", (-1, 1))}, {"N": (1, 3), "T": (1, 3)})
    )


@pytest.mark.parametrize("value", STRANGE.values(), ids=STRANGE)
def test_whatever_is_returned_every_check_ends_with_a_verdict(tmp_path, value):
    problem, path = _every_check(tmp_path), tmp_path / "mean_row.py"
    path.write_text(f"import numpy as np\ndef mean_row(rows): return {value}")
    report = grade(problem, path)
    assert len(report.results) == len(problem.checks) == 7
    assert [result.passed for result in report.results if result.name != "Does not modify its inputs"] == [
        False
    ] * 6
    assert "this test itself" not in str(report)
    json.dumps(str(report), ensure_ascii=False).encode()
    assert len(str(report)) < 60_000


def test_the_right_answer_passes_a_check_of_every_kind(tmp_path):
    assert grade(_every_check(tmp_path), mean_row).status == "passed"


CHANGED = ["rows.append(1j)", "rows.clear()", "rows[:] = [10**400]", "rows[:] = [[1.0], [2.0, 3.0]]"]


@pytest.mark.parametrize("change", CHANGED)
def test_whatever_becomes_of_the_inputs_every_check_ends_with_a_verdict(tmp_path, change):
    problem, path = _every_check(tmp_path), tmp_path / "mean_row.py"
    text = RIGHT.replace(
        "return rows.mean(0)", f"result = rows.mean(0)\n    given{change[4:]}\n    return result"
    )
    path.write_text(text.replace("rows = np", "given, rows = rows, np"))
    report = grade(problem, path)
    assert {result.name: result.passed for result in report.results}["Found"] is False
    assert "this test itself" not in str(report)


def _no_such(*arguments):
    raise ZeroDivisionError("of ours")


OURS = {
    "a property": Holds("Ours", _no_such, why=""),
    "a draw": Drawn("Ours", _no_such, why=""),
    "a domain": FromDomain("", "Ours"),
    "a case": Case("Ours", None, 1.0, why=""),
}


@pytest.mark.parametrize("check", OURS.values(), ids=OURS)
def test_a_fault_of_our_own_is_reported_as_ours_and_the_rest_is_graded(judged, check):
    report = grade(replace(EXERCISE, checks=(check, *EXERCISE.checks)), mean_row)
    assert [result.passed for result in report.results] == [False, True, True, True, True]
    assert report.results[0].wrong.startswith("this test is broken: ")
    assert report.results[0].wrong.endswith("; please report it to the course")


def test_as_many_digits_as_it_takes_to_see_the_difference():
    check = Case("Close", ([[0.0]],), np.array([0.6931471805]), why="", shown=True)
    (result,) = grade(replace(EXERCISE, checks=(check,)), lambda rows: np.array([0.6931471905])).results
    assert result.got == "[0.69314719]"
    assert result.wrong == "0.6931471905 at index [0] is too large; expected [0.69314718]"


def test_a_missing_function_is_said_as_such_with_the_nearest_name(judged):
    report = judged("def mean_rows(rows): return 0")
    assert [result.name for result in report.results] == ["The function is there"]
    assert report.results[0].wrong == "there is no function `mean_row`; did you mean `mean_rows`?"
    assert judged("x = 1").results[0].wrong == "there is no function `mean_row`"
    assert report.points == 0


def test_what_was_raised_is_not_said_to_be_returned(judged):
    report = judged("def mean_row(rows): return rows[0] if len(rows) > 2 else 1 / 0")
    assert [result.raised for result in report.results] == [True, True, True, True]
    assert not judged("def mean_row(rows): return 0").results[0].raised
