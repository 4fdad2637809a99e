"""A student's folder: where files are, what has been reached, which hints were read."""

import pytest

from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.workbook import Workbook

FIRST, SECOND, *_, LAST = EXERCISES


@pytest.fixture
def workbook(tmp_path):
    return Workbook(tmp_path, pytest.fail)


def test_fewer_points_take_nothing_away(workbook):
    workbook.record({"kl/k3": 1.5, "kl/exact_kl": 1.0})
    workbook.record({"kl/k3": 0.5})
    assert workbook.progress.points == {"kl/k3": 1.5, "kl/exact_kl": 1.0}


def test_an_exercise_is_solved_with_all_its_points(workbook):
    workbook.record(
        {"kl/k3": EXERCISES["kl/k3"].points - 0.1, "kl/exact_kl": EXERCISES["kl/exact_kl"].points}
    )
    assert workbook.solved() == {"kl/exact_kl"}
    assert workbook.is_solved("kl/exact_kl")
    assert not workbook.is_solved("kl/k3")


def test_the_next_open_exercise_goes_round(workbook):
    assert workbook.next_open() == FIRST
    assert workbook.next_open(FIRST) == SECOND
    assert workbook.next_open(LAST) == FIRST
    workbook.record({FIRST: 1.0})
    assert workbook.next_open(LAST) == SECOND
    workbook.record({name: exercise.points for name, exercise in EXERCISES.items()})
    assert workbook.next_open() is None


def test_the_ladder_is_climbed_a_step_at_a_time_and_has_an_end(workbook):
    assert [workbook.climb("kl/k3", 3) for _ in range(5)] == [1, 2, 3, 3, 3]
    assert workbook.climb("kl/k3", 3, steps=1) == 1
    assert workbook.progress.hints == {"kl/k3": 3}
    assert workbook.climb("kl/exact_kl", 3, steps=7) == 3
