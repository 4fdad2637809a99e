"""The course file: a class's exercises, their points and their deadlines."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from grpo_ref.course.classroom.late_policy import Late
from grpo_ref.course.classroom.toml_lines import TomlTable, read_toml
from grpo_ref.course.contents import CHAPTERS, EXERCISES, exercise_called, exercises_in
from grpo_ref.listing import unknown

PARTIAL, ALL_OR_NOTHING = "partial", "all-or-nothing"
COLUMNS = frozenset(("student", "points", "of", "percent", "solved", "official", "notes"))
"""Columns of the table of marks; an assignment must not have one of these names."""
KEYS = ("title", "seed", "marks", "exercises", "late", "points", "assignment")
LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True)
class Assignment:
    """A part of the course with its own deadline.

    Attributes:
      name: name of the assignment.
      exercises: ids, in the order of the course.
      deadline: the deadline, or None.
      weight: weight in the total percentage; None for the number of points.
      marks: "partial" or "all-or-nothing".
    """

    name: str
    exercises: tuple[str, ...]
    deadline: datetime | None = None
    weight: float | None = None
    marks: str = PARTIAL


@dataclass(frozen=True)
class CourseFile:
    """The content of a course file.

    Attributes:
      assignments: the assignments, in order; no exercise is in two of them.
      title: title of the course.
      seed: seed of the class, or None.
      late: the rules for late submissions.
      points: id of an exercise -> its points, if they differ from grpo_ref's.
      whole: all assignments of the file, of which `assignments` may be a part.
    """

    assignments: tuple[Assignment, ...]
    title: str = ""
    seed: int | None = None
    late: Late = field(default_factory=Late)
    points: Mapping[str, float] = field(default_factory=dict)
    whole: tuple[Assignment, ...] = ()

    @property
    def exercises(self) -> tuple[str, ...]:
        """All exercises that count, in the order of the course."""
        chosen = {name for each in self.assignments for name in each.exercises}
        return tuple(name for name in EXERCISES if name in chosen)

    def points_of(self, name: str) -> float:
        """Return the points of an exercise."""
        return self.points.get(name, float(EXERCISES[name].points))

    def only(self, names: Sequence[str]) -> "CourseFile":
        """Return the course with these assignments only.

        Raises:
          ValueError: if there is no assignment of that name.
        """
        known = [each.name for each in self.assignments]
        for name in names:
            if name not in known:
                raise ValueError(unknown("assignment", name, known))
        kept = tuple(each for each in self.assignments if each.name in names)
        return replace(self, assignments=kept, whole=self.whole or self.assignments)


def without_file(names: Sequence[str]) -> CourseFile:
    """Return the course to use without a course file: these exercises, with their points and no deadline."""
    return CourseFile((Assignment("course", tuple(names)),))


def read_course(path: Path) -> CourseFile:
    """Read a course file.

    Raises:
      ValueError: if the file has a mistake; the message names the line.
      OSError: if it cannot be read.
    """
    top = read_toml(path)
    top.only(KEYS)
    marks = top.one_of("marks", (PARTIAL, ALL_OR_NOTHING), PARTIAL)
    tables = top.tables("assignment")
    if tables and "exercises" in top.data:
        top.fail("exercises", "exercises: expected this list in the tables [[assignment]]; move it there")
    assignments = [_assignment(table, marks) for table in tables] or [
        Assignment("course", _exercises(top) or tuple(EXERCISES), marks=marks)
    ]
    _see_that_they_differ(tables, assignments)
    return CourseFile(
        tuple(assignments), top.string("title", path.stem), _seed(top), _late(top.table("late")), _points(top)
    )


def _assignment(table: TomlTable, marks: str) -> Assignment:
    table.only(("name", "exercises", "deadline", "weight", "marks"))
    names = _exercises(table)
    if not names:
        table.fail("exercises", "exercises: expected the names of exercises or chapters")
    return Assignment(
        table.string("name"),
        names,
        table.time("deadline"),
        table.number("weight") if "weight" in table.data else None,
        table.one_of("marks", (PARTIAL, ALL_OR_NOTHING), marks),
    )


def _exercises(table: TomlTable) -> tuple[str, ...]:
    """Return the ids that a list of exercises and chapters names, in the order of the course."""
    chosen = set()
    for name in table.strings("exercises"):
        if name in CHAPTERS:
            chosen |= {each.id for each in exercises_in(name)}
        elif full := exercise_called(name):
            chosen.add(full)
        else:
            known = [*CHAPTERS, *EXERCISES]
            table.fail("exercises", unknown("exercise or chapter", name, known), name)
    return tuple(name for name in EXERCISES if name in chosen)


def _see_that_they_differ(tables: Sequence[TomlTable], assignments: Sequence[Assignment]) -> None:
    names: set[str] = set()
    exercises: dict[str, str] = {}
    for table, each in zip(tables, assignments, strict=False):
        if each.name in names:
            table.fail("name", f"there are two assignments {each.name!r}; rename one")
        if each.name in COLUMNS or each.name in EXERCISES:
            table.fail("name", f"{each.name!r} is a column of the marks; rename the assignment")
        for exercise in each.exercises:
            if exercise in exercises:
                table.fail(
                    "exercises",
                    f"{exercise} is already in {exercises[exercise]!r}; remove one of the two",
                )
            exercises[exercise] = each.name
        names.add(each.name)


def _seed(top: TomlTable) -> int | None:
    if "seed" not in top.data:
        return None
    value = top.number("seed", most=LARGEST_SEED)
    if not isinstance(top.data["seed"], int):
        top.fail("seed", f"seed: expected a whole number, got {value:g}")
    return int(top.data["seed"])


def _late(table: TomlTable) -> Late:
    table.only(("per_day", "days", "grace_minutes"))
    return Late(
        table.number("per_day", 0.0, most=1.0),
        table.number("days", math.inf) if "days" in table.data else math.inf,
        timedelta(minutes=table.number("grace_minutes", 0.0)),
    )


def _points(top: TomlTable) -> dict[str, float]:
    table = top.table("points")
    points = {}
    for name in table.data:
        full = exercise_called(name)
        if not full:
            table.fail(name, unknown("exercise", name, EXERCISES))
        points[full] = table.number(name)
    return points
