"""What the commands of the course share: how an exercise and its folder are named on the command line."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.layout import exercise_at, file_of
from grpo_ref.course.workbook import Workbook
from grpo_ref.listing import nearest

Command = TypeVar("Command", bound=Callable[..., Any])


class ExerciseName(click.ParamType[str]):
    """An argument that names an exercise: by id, by the last part of it if that is unique, or by its file."""

    name = "exercise"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The id of the exercise, or an error with a suggestion."""
        by_name = [each.id for each in EXERCISES.values() if value in (each.id, each.name)]
        by_file = exercise_at(Path(value).resolve()) if str(value).endswith(".py") else None
        if by_file is not None or len(by_name) == 1:
            return by_file or by_name[0]
        self.fail(f"no exercise is called {value!r}. {_advice(str(value))}", param, ctx)


def _advice(value: str) -> str:
    """A sentence that helps after a misspelt exercise."""
    known = [*EXERCISES, *(each.name for each in EXERCISES.values())]
    close = nearest(value, known)
    return f"Did you mean {close!r}?" if close else "All are shown by: grpo-ref list"


def folder_option(command: Command) -> Command:
    """The option --folder, as a Path that exists."""
    option = click.option(
        "--folder",
        type=click.Path(path_type=Path),
        default=_default_folder,
        callback=_existing,
        help="Where the exercises lie; by default here, if this is such a folder, else in exercises/.",
    )
    return option(command)


def _existing(context: click.Context, parameter: click.Parameter, folder: Path) -> Path:
    if not folder.is_dir():
        raise click.UsageError(f"there is no folder {folder}; one is written by: grpo-ref init {folder}")
    return folder


def _default_folder() -> str:
    return "." if file_of(next(iter(EXERCISES))).is_file() else "exercises"


def open_workbook(folder: Path) -> Workbook:
    """The student's folder; what is wrong with its progress file is told on standard error."""
    return Workbook(folder, lambda text: click.echo(text, err=True))


def require_file(workbook: Workbook, name: str) -> Path:
    """The student's file of an exercise, or an error that says how to make it."""
    path = workbook.path(name)
    if not path.is_file():
        raise click.UsageError(f"{path} is missing; it is written by: grpo-ref init {workbook.folder}")
    return path


@contextmanager
def saying_what_is_graded(name: str) -> Iterator[None]:
    """Show in a terminal which exercise is being graded; the line is gone when the report is shown."""
    if not sys.stderr.isatty():
        yield
        return
    click.echo(f"grading {name} ...", err=True, nl=False)
    try:
        yield
    finally:
        click.echo(f"\r{' ' * len(f'grading {name} ...')}\r", err=True, nl=False)
