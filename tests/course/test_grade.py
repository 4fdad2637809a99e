"""A report on one answer: what a student gets to read, and what is not given away."""

from dataclasses import replace

import numpy as np
from little_exercise import EXERCISE, RIGHT, mean_row

from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.problem import Case, Holds


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
    assert shown.wrong == "2 of 2 wrong, the first too small: 1.5 at index [0]; expected [2, 4]"
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
    assert "cannot be used as described" in report.results[0].wrong
