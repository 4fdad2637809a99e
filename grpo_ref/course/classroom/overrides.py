"""The overrides file: the instructor's decisions for single students, each with its reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from grpo_ref.course.classroom.course_file import Assignment, CourseFile
from grpo_ref.course.classroom.toml_lines import TomlTable, read_toml
from grpo_ref.course.contents import exercise_called
from grpo_ref.listing import unknown


@dataclass(frozen=True)
class Override:
    """One decision.

    Attributes:
      student: name of the student in the submissions or the roster.
      reason: reason for the decision; it is shown to the student.
      exercise: id of the exercise that gets other points, or "".
      points: points that the exercise gets.
      assignment: name of the assignment that has another deadline, or "".
      deadline: deadline that the assignment gets.
      line: first line of the decision in the file.
    """

    student: str
    reason: str
    exercise: str = ""
    points: float = 0.0
    assignment: str = ""
    deadline: datetime | None = None
    line: int = 0


def read_overrides(path: Path, course: CourseFile) -> tuple[Override, ...]:
    """Read the decisions in a file.

    Raises:
      ValueError: if the file has a mistake; the message names the line.
      OSError: if it cannot be read.
    """
    top = read_toml(path)
    top.only(("override",))
    return tuple(_override(table, course.whole or course.assignments) for table in top.tables("override"))


def _override(table: TomlTable, assignments: Sequence[Assignment]) -> Override:
    student, reason, line = table.string("student"), table.string("reason"), table.line("student")
    if "exercise" in table.data:
        table.only(("student", "reason", "exercise", "points"))
        name = exercise_called(table.string("exercise"))
        counted = [each for assignment in assignments for each in assignment.exercises]
        if name not in counted:
            table.fail("exercise", unknown("exercise of this course", table.string("exercise"), counted))
        return Override(student, reason, exercise=name, points=table.number("points"), line=line)
    table.only(("student", "reason", "assignment", "deadline"))
    name = table.string("assignment")
    names = [each.name for each in assignments]
    if name not in names:
        table.fail("assignment", unknown("assignment", name, names))
    deadline = table.time("deadline")
    if deadline is None:
        table.fail("override", "deadline is missing: expected a date and time with its offset")
    return Override(student, reason, assignment=name, deadline=deadline, line=line)
