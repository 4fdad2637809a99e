"""Marks: what the tests gave a student, after the rules of the course and the instructor's decisions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from grpo_ref.course.classroom.course_file import ALL_OR_NOTHING, Assignment, CourseFile
from grpo_ref.course.classroom.overrides import Override


class Mark(NamedTuple):
    """What one exercise counts for one student.

    Attributes:
      points, of: reached and possible.
      why: a sentence where not the tests alone decided, or "".
      lost: points that were lost for being late.
    """

    points: float
    of: float
    why: str = ""
    lost: float = 0.0


@dataclass(frozen=True)
class Part:
    """What one assignment counts for one student.

    Attributes:
      name: of the assignment.
      points, of: reached and possible.
      weight: what its share counts in the whole.
      days_late: how many days after the deadline had begun.
      lost: points that were lost for being late.
    """

    name: str
    points: float
    of: float
    weight: float
    days_late: int
    lost: float

    @property
    def share(self) -> float:
        """What was reached, from 0 to 1."""
        return self.points / self.of if self.of else 0.0


@dataclass(frozen=True)
class Marks:
    """All marks of one student.

    Attributes:
      exercises: id -> its mark, in the order of the course.
      parts: the assignments, in order.
      notes: what is to be known of them, a sentence each.
    """

    exercises: Mapping[str, Mark]
    parts: Sequence[Part]
    notes: Sequence[str]

    @property
    def points(self) -> float:
        """The sum over all exercises."""
        return round(sum(mark.points for mark in self.exercises.values()), 2)

    @property
    def of(self) -> float:
        """What could be reached."""
        return round(sum(mark.of for mark in self.exercises.values()), 2)

    @property
    def percent(self) -> float:
        """The shares of the assignments by their weights, of 100."""
        weights = sum(part.weight for part in self.parts)
        reached = sum(part.weight * part.share for part in self.parts)
        return round(100.0 * reached / weights, 2) if weights else 0.0


def marks_of(
    graded: Mapping[str, tuple[float, float]],
    course: CourseFile,
    overrides: Sequence[Override] = (),
    submitted: datetime | None = None,
) -> Marks:
    """The marks of one student.

    Args:
      graded: id of an exercise -> points by the tests, and what they could give.
      course: its rules.
      overrides: what was decided for this student; of two decisions on one thing the later counts.
      submitted: when the work was handed in; None if that is not known, which counts as in time.

    >>> from grpo_ref.course.classroom.course_file import without_file
    >>> marks_of({"kl/k3": (1.0, 2.0)}, without_file(["kl/k3"])).percent
    50.0
    """
    exercises: dict[str, Mark] = {}
    parts, notes = [], []
    for assignment in course.assignments:
        has_points = any(graded[name][0] for name in assignment.exercises)
        days, told = _days_late(assignment, course, overrides, submitted) if has_points else (0, [])
        notes += told
        found = dict(_exercise_marks(assignment, graded, course, days))
        found |= _decided(found, overrides)
        exercises |= found
        points = round(sum(mark.points for mark in found.values()), 2)
        of = round(sum(mark.of for mark in found.values()), 2)
        weight = of if assignment.weight is None else assignment.weight
        lost = round(sum(mark.lost for mark in found.values()), 2)
        parts.append(Part(assignment.name, points, of, weight, days, lost))
    return Marks({name: exercises[name] for name in course.exercises}, parts, notes)


def _days_late(
    assignment: Assignment, course: CourseFile, overrides: Sequence[Override], submitted: datetime | None
) -> tuple[int, list[str]]:
    """How many days late it is, and what is to be known of that."""
    own = [each for each in overrides if each.assignment == assignment.name]
    deadline = own[-1].deadline if own else assignment.deadline
    notes = [f"{assignment.name}: deadline moved to {deadline}: {own[-1].reason}"] if own else []
    if deadline is None:
        return 0, notes
    if submitted is None:
        return 0, [*notes, f"{assignment.name}: when it was handed in is not known; counted as in time"]
    days = course.late.days_late(submitted, deadline)
    left = course.late.share(days)
    late = f"{assignment.name}: {_counted(days)} late, {100.0 * left:g} % of the points are left"
    return days, [*notes, late] if days and left < 1.0 else notes


def _exercise_marks(
    assignment: Assignment, graded: Mapping[str, tuple[float, float]], course: CourseFile, days: int
) -> Iterator[tuple[str, Mark]]:
    """What the tests and the rules give."""
    left = course.late.share(days) if days else 1.0
    for name in assignment.exercises:
        points, possible = graded[name]
        of = course.points_of(name)
        share = points / possible if possible else 0.0
        why = []
        if assignment.marks == ALL_OR_NOTHING and 0.0 < share < 1.0:
            share = 0.0
            why.append("not all tests pass, and this counts all or nothing.")
        if left < 1.0 and share:
            why.append(f"{_counted(days)} late: {100.0 * left:g} % of {share * of:g} points.")
        points = round(share * of * left, 2)
        yield name, Mark(points, of, " ".join(why), round(share * of - points, 2))


def _decided(marks: Mapping[str, Mark], overrides: Sequence[Override]) -> dict[str, Mark]:
    """The marks that the instructor has set."""
    return {
        each.exercise: Mark(
            each.points,
            marks[each.exercise].of,
            f"set to {each.points:g} by the instructor, not {marks[each.exercise].points:g}: {each.reason}",
        )
        for each in overrides
        if each.exercise in marks
    }


def _counted(days: int) -> str:
    return f"{days} day{'s' * (days != 1)}"
