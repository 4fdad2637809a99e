"""The options that the commands for a class share: the course file and its assignments."""

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
    """Add the options `course_file` and `assignments` to a command."""
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
        help="Grade this assignment of the course file; repeat the option for several. By default all.",
    )
    return course(assignment(command))


def chosen_course(
    path: Path | None, chosen: tuple[tuple[str, ...], ...], assignments: tuple[str, ...]
) -> "CourseFile":
    """Return the course given by a course file, or by the named exercises, or with all exercises.

    Args:
      path: the course file.
      chosen: ids of exercises, one group per option that named them.
      assignments: names of the assignments that are graded now.
    """
    names = {name for group in chosen for name in group}
    if path is None:
        if assignments:
            raise click.UsageError(
                "--assignment needs a course file, of which it names a part; add --course FILE"
            )
        return classroom.without_file([name for name in EXERCISES if name in names or not names])
    if names:
        raise click.UsageError(
            "--exercise and --course exclude each other: the course file lists the exercises; drop one"
        )
    try:
        course = classroom.read_course(path)
        return course.only(assignments) if assignments else course
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error
