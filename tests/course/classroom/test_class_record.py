"""The points that the tests gave are read from a record without the loss of their rounding."""

import pytest

from grpo_ref.course.classroom.class_record import tests_gave as gave
from grpo_ref.course.classroom.course_file import without_file
from grpo_ref.course.classroom.marks import marks_of

NAME = "aggregation/token_mean"


def record(points, passed, total):
    """A record with one exercise of 1 point, of which some tests passed."""
    tests = [{"passed": number < passed} for number in range(total)]
    return {"exercises": [{"id": NAME, "points": points, "of": 1, "tests": tests}]}


@pytest.mark.parametrize(
    ("points", "passed", "total", "expected"),
    [
        (0.33, 12, 18, 1 / 3),  # half of 12/18
        (1.0, 18, 18, 1.0),
        (0.0, 5, 18, 0.0),  # an example fails, so there are no points
        (0.33, 0, 0, 0.33),  # a record without tests
    ],
)
def test_points_are_those_before_rounding(points, passed, total, expected):
    assert gave(record(points, passed, total), (NAME,)) == {NAME: (expected, 1.0)}


def test_scaled_points_are_rounded_last():
    """A third of 4 points is 1.33; 4 · 0.33 would be 1.32. The rounding takes no points for lateness."""
    course = without_file([NAME])
    course = course.__class__(**{**vars(course), "points": {NAME: 4.0}})
    (mark,) = marks_of(gave(record(0.33, 12, 18), (NAME,)), course).exercises.values()
    assert (mark.points, mark.lost) == (1.33, 0.0)
