"""The analysis of exercises and tests: every number is derivable by hand."""

import numpy as np
import pytest

from grpo_ref.course.classroom.item_analysis import (
    Misconception,
    check_items,
    correlation,
    exercise_items,
    is_late,
    misconceptions,
    timed_out,
)
from grpo_ref.course.grading.limits import Limits
from grpo_ref.course.grading.sandbox import Sandbox

EASY, HARD = "kl/k3", "kl/exact_kl"
TESTS = {EASY: ("By hand", "Random"), HARD: ("By hand",)}


def outcome(name, passed, **more):
    """One test of a record."""
    return {"name": name, "passed": passed, "called": "k3()", "wrong": "", "likely": "", **more}


def exercise(name, points, tests=(), *, of=2, status=None, diagnosis="", symptom=""):
    """One exercise of a record."""
    status = status or ("passed" if points == of else "failed")
    return {
        "id": name,
        "points": points,
        "of": of,
        "status": status,
        "tests": tests,
        "diagnosis": diagnosis,
        "symptom": symptom,
    }


def record(student, *exercises):
    """The result of one student."""
    return {"student": student, "exercises": exercises}


UNLOADABLE = [outcome("The file can be loaded", False, called="")]
CLASS = (
    record("anna", exercise(EASY, 2, [outcome("By hand", True), outcome("Random", True)]), exercise(HARD, 2)),
    record("ben", exercise(EASY, 2, [outcome("By hand", True), outcome("Random", True)]), exercise(HARD, 1)),
    record(
        "carol", exercise(EASY, 1, [outcome("By hand", True), outcome("Random", False)]), exercise(HARD, 0)
    ),
    record("dora", exercise(EASY, 0, UNLOADABLE), exercise(HARD, 0, status="not started")),
    record("broken off"),
)

# left, right -> r, worked by hand
CORRELATIONS = {
    "the same": ([1, 2, 3], [4, 5, 6], 1.0),
    "the opposite": ([1, 2, 3], [6, 5, 4], -1.0),
    "nothing": ([0, 1, 0, 1], [0, 0, 1, 1], 0.0),
    "deviations 1, 0, -1 and 1, -2, 1": ([2, 1, 0], [3, 0, 3], 0.0),
    "three quarters": ([0, 0, 1, 1], [0, 1, 1, 2], 1 / 2**0.5),
    "too few": ([1, 2], [1, 2], None),
    "one is constant": ([1, 1, 1], [1, 2, 3], None),
    "constant but for rounding": ([0.1 + 0.2, 0.3, 0.3], [1, 2, 3], None),
}


@pytest.mark.parametrize(("left", "right", "r"), CORRELATIONS.values(), ids=CORRELATIONS)
def test_correlation(left, right, r):
    found = correlation(np.array(left, dtype=float), np.array(right, dtype=float))
    assert found == (None if r is None else pytest.approx(r, abs=1e-12))


def test_exercises_are_counted_by_hand():
    """Points 2, 2, 1, 0 and 2, 1, 0, 0: deviations 3, 3, -1, -5 and 5, 1, -3, -3 quarters, r = 36 / 44."""
    easy, hard = exercise_items(CLASS)
    assert easy[:6] == (EASY, 4, 4, 3, 2, 1)
    assert (easy.share, easy.facility) == (5 / 8, 5 / 8)
    assert hard[:6] == (HARD, 4, 3, 0, 1, 1)
    assert (hard.share, hard.facility) == (1 / 2, 3 / 8)
    assert easy.discrimination == hard.discrimination == pytest.approx(36 / 44)


def test_tests_are_counted_where_they_were_run():
    """Three were run; passing "Random" is 1, 1, 0; the other exercise gave 2, 1, 0: r = √3 / 2."""
    by_hand, random, never = check_items(CLASS, TESTS)
    assert by_hand == (EASY, "By hand", 3, 1.0, None)
    assert random[:3] == (EASY, "Random", 3)
    assert random.facility == pytest.approx(2 / 3)
    assert random.discrimination == pytest.approx(3**0.5 / 2)
    assert never == (HARD, "By hand", 0, None, None)


def test_nobody_is_a_class_too():
    assert exercise_items([]) == check_items([], TESTS) == misconceptions([]) == []
    assert timed_out([]) == {}


def test_a_student_counts_once_for_a_sentence():
    parts = [outcome("a", False, likely="Sign."), outcome("b", False, likely="Sign."), outcome("c", False)]
    whole = [outcome("a", False, likely="Axis.")]
    records = [
        record("anna", exercise(EASY, 0, parts)),
        record("ben", exercise(EASY, 0, whole, diagnosis="Sign.")),
        record("carol", exercise(EASY, 0, symptom="Zeros.")),
        record("dora", exercise(HARD, 0, diagnosis="Sign.")),
    ]
    assert misconceptions(records) == [
        Misconception(EASY, "Sign.", 2),
        Misconception(HARD, "Sign.", 1),
        Misconception(EASY, "Zeros.", 1),
    ]


def test_time_outs_are_told_by_student():
    late = [outcome("a", True), outcome("b", False, wrong="no answer after 5 s")]
    wrong = [outcome("a", False, wrong="1 is not 2")]
    records = [record("anna", exercise(EASY, 0, late)), record("ben", exercise(EASY, 0, wrong))]
    assert timed_out(records) == {EASY: ["anna"]}


@pytest.mark.parametrize("text", ["while True: pass", "def f():\n    while True: pass"])
def test_the_graders_words_for_too_late_are_known(tmp_path, text):
    (tmp_path / "f.py").write_text(text)
    limits = Limits(seconds=0.1, impatient_seconds=0.1, rest=0.1, start_seconds=0.6)
    with Sandbox(tmp_path / "f.py", limits) as sandbox:
        loaded = sandbox.load()
        replies = [loaded] if not loaded.ok else [sandbox.call("f", (), {}) for _ in range(4)]
    for reply in replies:
        assert is_late({"wrong": reply.message}), reply
        assert is_late({"wrong": f"it could not be loaded: {reply.message}"})
