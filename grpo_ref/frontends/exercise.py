"""What the commands of the course share: how an exercise and its folder are named on the command line."""

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.layout import file_of, problem_of
from grpo_ref.course.problems import PROBLEMS
from grpo_ref.course.workbook import Workbook

Command = TypeVar("Command", bound=Callable[..., Any])


class Exercise(click.ParamType[Problem]):
    """An argument that names an exercise: by id, by the last part of it if that is unique, or by its file."""

    name = "exercise"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Problem:
        """The exercise, or an error with a suggestion."""
        by_name = [problem for name, problem in PROBLEMS.items() if value in (name, name.split("/")[1])]
        by_file = problem_of(Path(value).resolve()) if str(value).endswith(".py") else None
        if by_file is not None or len(by_name) == 1:
            return by_file or by_name[0]
        known = [*PROBLEMS, *(name.split("/")[1] for name in PROBLEMS)]
        close = difflib.get_close_matches(str(value), known, n=1)
        advice = f"Did you mean {close[0]!r}?" if close else "All are shown by: grpo-ref list"
        self.fail(f"no exercise is called {value!r}. {advice}", param, ctx)


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
    first = file_of(next(iter(PROBLEMS.values())))
    return "." if first.is_file() else "exercises"


def open_workbook(folder: Path) -> Workbook:
    """The student's folder; what is wrong with its progress file is told on standard error."""
    return Workbook(folder, lambda text: click.echo(text, err=True))


def require_file(workbook: Workbook, problem: Problem) -> Path:
    """The student's file of an exercise, or an error that says how to make it."""
    path = workbook.path(problem)
    if not path.is_file():
        raise click.UsageError(f"{path} is missing; it is written by: grpo-ref init {workbook.folder}")
    return path
