"""Marks after the rules of a course: late days, all or nothing, weights, and the instructor's decisions."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from grpo_ref.course.classroom.course_file import ALL_OR_NOTHING, Assignment, CourseFile
from grpo_ref.course.classroom.late_policy import Late
from grpo_ref.course.classroom.marks import Mark, marks_of
from grpo_ref.course.classroom.overrides import Override

NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)
FIRST = Assignment("first", ("kl/exact_kl", "kl/k3"), deadline=NOON)
COURSE = CourseFile((FIRST,), late=Late(per_day=0.25, days=2, grace=timedelta(minutes=10)))
GRADED = {"kl/exact_kl": (1.0, 1.0), "kl/k3": (0.8, 2.0), "clinic/falling_reward": (1.0, 2.0)}

# minutes after the deadline -> days late, share that is left
LATE = {
    "in time": (-1, 0, 1.0),
    "within the grace": (10, 0, 1.0),
    "a minute later": (11, 1, 0.75),
    "a day and the grace": (24 * 60 + 10, 1, 0.75),
    "two days": (48 * 60, 2, 0.5),
    "more than are accepted": (49 * 60, 3, 0.0),
}


@pytest.mark.parametrize(("minutes", "days", "left"), LATE.values(), ids=LATE)
def test_late(minutes, days, left):
    marks = marks_of(GRADED, COURSE, submitted=NOON + timedelta(minutes=minutes))
    assert marks.parts[0].days_late == days
    assert marks.exercises["kl/k3"].points == pytest.approx(0.8 * left)
    assert marks.points == pytest.approx(1.8 * left)
    assert marks.parts[0].lost == pytest.approx(1.8 * (1.0 - left))
    assert marks.of == 3.0
    assert bool(marks.notes) == bool(days)


def test_an_unknown_time_counts_as_in_time_and_is_said():
    marks = marks_of(GRADED, COURSE)
    assert marks.points == 1.8
    assert marks.notes == ["first: the time of the submission is unknown; counted as in time"]
    nothing = marks_of({name: (0.0, of) for name, (_, of) in GRADED.items()}, COURSE)
    assert nothing.notes == [], "nobody is late with nothing"


def test_all_or_nothing():
    marks = marks_of(GRADED, CourseFile((replace(FIRST, marks=ALL_OR_NOTHING),)), submitted=NOON)
    assert marks.exercises["kl/exact_kl"] == Mark(1.0, 1.0)
    assert marks.exercises["kl/k3"].points == 0.0
    assert "all or nothing" in marks.exercises["kl/k3"].why


def test_other_points_keep_the_share():
    """0.8 of 2 is 40 %; of 5 points that is 2."""
    marks = marks_of(GRADED, replace(COURSE, points={"kl/k3": 5.0}), submitted=NOON)
    assert marks.exercises["kl/k3"] == Mark(2.0, 5.0)
    assert (marks.points, marks.of, marks.percent) == (3.0, 6.0, 50.0)


def test_weights():
    """1.8 of 3 is 60 %, with weight 3; 1 of 2 is 50 %, with weight 1: (180 + 50) / 4 = 57.5 %."""
    second = Assignment("second", ("clinic/falling_reward",), weight=1.0)
    marks = marks_of(GRADED, CourseFile((replace(FIRST, weight=3.0), second)), submitted=NOON)
    assert marks.percent == 57.5
    assert marks_of(GRADED, CourseFile((replace(FIRST, weight=0.0),)), submitted=NOON).percent == 0.0


def test_what_the_instructor_decided_counts_whatever_the_day():
    late = NOON + timedelta(days=10)
    decided = Override("anna", "shown by hand", exercise="kl/k3", points=2.0)
    marks = marks_of(GRADED, COURSE, (decided,), late)
    assert marks.exercises["kl/k3"] == Mark(2.0, 2.0, "set to 2 by the instructor, not 0: shown by hand")
    assert marks.points == 2.0
    longer = Override("anna", "ill", assignment="first", deadline=late)
    assert marks_of(GRADED, COURSE, (longer,), late).points == 1.8
    assert "ill" in marks_of(GRADED, COURSE, (longer,), late).notes[0]
    elsewhere = Override("anna", "?", exercise="clinic/falling_reward", points=2.0)
    assert marks_of(GRADED, COURSE, (elsewhere,), NOON).points == 1.8
