"""What the commands for a class share: the course file and its assignments on the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from grpo_ref.course import classroom
from grpo_ref.course.contents import EXERCISES

if TYPE_CHECKING:
    from grpo_ref.course.classroom import CourseFile

Command = TypeVar("Command", bound=Callable[..., Any])
EXISTING = click.Path(path_type=Path, exists=True, dir_okay=False)


def course_options(command: Command) -> Command:
    """Give a command the options `course_file` and `assignments`."""
    course = click.option(
        "--course",
        "course_file",
        type=EXISTING,
        help="Course file: exercises, points, weights, deadlines and late policy (docs/teach.md).",
    )
    assignment = click.option(
        "--assignment",
        "assignments",
        multiple=True,
        help="An assignment of the course file that is graded now; by default all are.",
    )
    return course(assignment(command))


def chosen_course(
    path: Path | None, chosen: tuple[tuple[str, ...], ...], assignments: tuple[str, ...]
) -> "CourseFile":
    """What counts: by the course file, or the exercises that are named, or everything.

    Args:
      path: the course file.
      chosen: ids of exercises, by the option that named them.
      assignments: names of the assignments that are graded now.
    """
    names = {name for group in chosen for name in group}
    if path is None:
        if assignments:
            raise click.UsageError("--assignment names a part of a course file; give that with --course")
        return classroom.without_file([name for name in EXERCISES if name in names or not names])
    if names:
        raise click.UsageError("--exercise and --course do not go together: the course file says what counts")
    try:
        course = classroom.read_course(path)
        return course.only(assignments) if assignments else course
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error
