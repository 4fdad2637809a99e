"""The overrides file: what the instructor has decided for single students, each with its reason."""

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
      student: for whom, as the submissions or the roster name the student.
      reason: why; it is shown to the student.
      exercise: id of the exercise that gets other points, or "".
      points: what it gets.
      assignment: name of the assignment that has another deadline, or "".
      deadline: which.
      line: of the file, where it begins.
    """

    student: str
    reason: str
    exercise: str = ""
    points: float = 0.0
    assignment: str = ""
    deadline: datetime | None = None
    line: int = 0


def read_overrides(path: Path, course: CourseFile) -> tuple[Override, ...]:
    """The decisions in a file.

    Raises:
      ValueError: if something in it is wrong; the message names the line.
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
