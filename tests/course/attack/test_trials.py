"""The bench: verdicts on many wrong answers, and a hang costs a second."""

import time

import numpy as np
import pytest

from grpo_ref.course.attack.trials import AGREES, UNTRIED, WRONG, Bench, deviation
from grpo_ref.course.grading.found_cases import Input

INPUTS = [
    Input(([2.0, 4.0], [1, 1]), {}, np.array([1.0, 2.0])),
    Input(([2.0, np.nan], [1, 0]), {"by": 4.0}, np.array([0.5, 0.0])),
    Input(([2.0], [1]), {"by": 0}, None, "ValueError"),
]
BODY = "import numpy as np\n\ndef shares(values, mask, by=2.0):\n    {}\n"
REFUSING = "if by <= 0: raise ValueError\n    "
VERDICTS = {
    "by is not used": ("return np.where(mask, values, 0.0) / 2", [AGREES, WRONG, WRONG]),
    "a product with the mask": (REFUSING + "return np.array(values) * mask / by", [AGREES, WRONG, AGREES]),
    "another error": ("return np.where(mask, values, 0.0) / [by][by <= 0]", [AGREES, AGREES, WRONG]),
    "an input changed": (
        REFUSING + "r = np.where(mask, values, 0.0) / by; mask[0] = 0; return r",
        [WRONG, WRONG, AGREES],
    ),
    "an endless loop": ("while True: pass", [WRONG, UNTRIED, UNTRIED]),
    "the end of the process": ("import os; os._exit(0)", [WRONG, UNTRIED, UNTRIED]),
    "no such function": ("pass\n\ndel shares", [WRONG, WRONG, WRONG]),
    "text": ("return 'half'", [WRONG, WRONG, WRONG]),
    "an object that is no data": ("return object()", [WRONG, WRONG, WRONG]),
}


@pytest.fixture
def bench(problem):
    with Bench(problem) as bench:
        bench.learn(INPUTS)
        yield bench


def test_right_answers_are_right_on_every_input(bench, styles):
    for text in styles.values():
        assert bench.trial(text).verdicts == (AGREES, AGREES, AGREES)
        assert bench.trial(text).nearest == 0.0


def test_wrong_answers_are_wrong_where_they_are_and_leave_the_bench_as_it_was(bench, styles):
    for body, expected in VERDICTS.values():
        assert bench.trial(BODY.format(body)).verdicts == tuple(expected), body
    assert bench.trial(styles["a loop"]).wrong_on == []


def test_a_hang_costs_about_a_second(bench):
    begun = time.monotonic()
    bench.trial(BODY.format("while True: pass"))
    assert time.monotonic() - begun < 5.0


def test_the_first_check_that_fails_is_named(bench, problem, styles):
    assert bench.first_failed(styles["a loop"], problem.checks, 0) is None
    assert bench.first_failed(BODY.format("return values"), problem.checks, 0) == "Two halves"
    assert bench.first_failed("def shares(:", problem.checks, 0) == "Two halves"


def test_a_deviation_within_ten_tolerances_is_no_verdict_but_is_measured(bench, styles):
    near = styles["the model answer"].replace("/ by", "/ by * (1 + 4e-9)")
    far = styles["the model answer"].replace("/ by", "/ by * (1 + 4e-8)")
    assert bench.trial(near).wrong_on == []
    assert bench.trial(near).nearest == pytest.approx(4e-9)
    assert bench.trial(far).wrong_on == [0, 1]


def test_trying_ends_when_it_was_wrong_often_enough(problem):
    with Bench(problem) as bench:
        bench.learn([INPUTS[0]] * 450)
        verdicts = bench.trial(BODY.format("return values"), 12).verdicts
    assert verdicts == (WRONG,) * 12 + (UNTRIED,) * 438


def test_a_deviation_looks_into_tuples_and_leaves_nan_out():
    assert deviation((1.0, [2.0, 9.0]), (1.0, np.array([2.5, np.nan]))) == 0.2
    assert deviation([1e-3], np.array([0.0])) == 1e-3
