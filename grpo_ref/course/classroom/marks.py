"""Compute marks from the points of the tests, the rules of the course and the instructor's decisions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from grpo_ref.course.classroom.course_file import ALL_OR_NOTHING, Assignment, CourseFile
from grpo_ref.course.classroom.overrides import Override


class Mark(NamedTuple):
    """One student's mark in one exercise.

    Attributes:
      points, of: points reached and points possible.
      why: a sentence if the mark does not follow from the tests alone, or "".
      lost: points lost for lateness.
    """

    points: float
    of: float
    why: str = ""
    lost: float = 0.0


@dataclass(frozen=True)
class Part:
    """One student's mark in one assignment.

    Attributes:
      name: name of the assignment.
      points, of: points reached and points possible.
      weight: weight in the total percentage.
      days_late: number of days after the deadline that had begun.
      lost: points lost for lateness.
    """

    name: str
    points: float
    of: float
    weight: float
    days_late: int
    lost: float

    @property
    def share(self) -> float:
        """Fraction of the points that was reached, from 0 to 1."""
        return self.points / self.of if self.of else 0.0


@dataclass(frozen=True)
class Marks:
    """All marks of one student.

    Attributes:
      exercises: id -> mark, in the order of the course.
      parts: the assignments, in order.
      notes: remarks on the marks, one sentence each.
    """

    exercises: Mapping[str, Mark]
    parts: Sequence[Part]
    notes: Sequence[str]

    @property
    def points(self) -> float:
        """Sum of the points of all exercises."""
        return round(sum(mark.points for mark in self.exercises.values()), 2)

    @property
    def of(self) -> float:
        """Largest possible number of points."""
        return round(sum(mark.of for mark in self.exercises.values()), 2)

    @property
    def percent(self) -> float:
        """Weighted mean of the assignments' fractions, in percent."""
        weights = sum(part.weight for part in self.parts)
        reached = sum(part.weight * part.share for part in self.parts)
        return round(100.0 * reached / weights, 2) if weights else 0.0


def marks_of(
    graded: Mapping[str, tuple[float, float]],
    course: CourseFile,
    overrides: Sequence[Override] = (),
    submitted: datetime | None = None,
) -> Marks:
    """Return the marks of one student.

    Args:
      graded: id of an exercise -> points from the tests and points possible.
      course: the rules of the course.
      overrides: decisions for this student; of two decisions on one thing, the later one counts.
      submitted: time of the submission; None if it is unknown, which counts as in time.

    >>> from grpo_ref.course.classroom.course_file import without_file
    >>> marks_of({"kl/k3": (1.0, 2.0)}, without_file(["kl/k3"])).percent
    50.0
    """
    exercises: dict[str, Mark] = {}
    parts, notes = [], []
    for assignment in course.assignments:
        has_points = any(graded[name][0] for name in assignment.exercises)
        days, remarks = _days_late(assignment, course, overrides, submitted) if has_points else (0, [])
        notes += remarks
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
    """Return by how many days the assignment is late, and the notes on it."""
    own = [each for each in overrides if each.assignment == assignment.name]
    deadline = own[-1].deadline if own else assignment.deadline
    notes = [f"{assignment.name}: deadline moved to {deadline}: {own[-1].reason}"] if own else []
    if deadline is None:
        return 0, notes
    if submitted is None:
        return 0, [*notes, f"{assignment.name}: the time of the submission is unknown; counted as in time"]
    days = course.late.days_late(submitted, deadline)
    left = course.late.share(days)
    late = f"{assignment.name}: {_counted(days)} late, {100.0 * left:g} % of the points are left"
    return days, [*notes, late] if days and left < 1.0 else notes


def _exercise_marks(
    assignment: Assignment, graded: Mapping[str, tuple[float, float]], course: CourseFile, days: int
) -> Iterator[tuple[str, Mark]]:
    """Yield the marks that follow from the tests and the rules."""
    left = course.late.share(days) if days else 1.0
    for name in assignment.exercises:
        points, possible = graded[name]
        of = course.points_of(name)
        share = points / possible if possible else 0.0
        why = []
        if assignment.marks == ALL_OR_NOTHING and 0.0 < share < 1.0:
            share = 0.0
            why.append("not all tests pass, and this assignment is all or nothing.")
        if left < 1.0 and share:
            why.append(f"{_counted(days)} late: {100.0 * left:g} % of {round(share * of, 2):g} points.")
        points = round(share * of * left, 2)
        yield name, Mark(points, of, " ".join(why), max(0.0, round(share * of - points, 2)))


def _decided(marks: Mapping[str, Mark], overrides: Sequence[Override]) -> dict[str, Mark]:
    """Return the marks that the instructor has set."""
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
