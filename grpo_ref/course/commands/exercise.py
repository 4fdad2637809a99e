"""What the commands of the course share: how an exercise and its folder are named on the command line."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import click

from grpo_ref.course.contents import CHAPTERS, EXERCISES, exercise_called, exercises_in, source_at
from grpo_ref.course.layout import chapter_at, exercise_at, file_of
from grpo_ref.course.workbook import Workbook
from grpo_ref.listing import nearest

Command = TypeVar("Command", bound=Callable[..., Any])


OWN, CHECKED_OUT = "my-exercises", "exercises"
"""The folder that `init` writes, a student's own; and that of a checkout, which later versions change."""
MEANT = "grpo_ref.folder"
"""Where the context of a command keeps the folder that its paths mean."""


class ExerciseName(click.ParamType[str]):
    """An argument that names an exercise: by id, by the last part of it if that is unique, or by its file."""

    name = "exercise"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The id of the exercise, or an error with a suggestion."""
        by_name = exercise_called(value)
        path = Path(value).resolve()
        by_file = exercise_at(path) if path.suffix == ".py" else None
        if by_file is not None:
            self._require_folder(path.parents[1], param, ctx)
        if by_file or by_name:
            return by_file or by_name
        self.fail(f"no exercise is called {value!r}. {_advice(str(value))}", param, ctx)

    def _require_folder(self, folder: Path, param: click.Parameter | None, ctx: click.Context | None) -> None:
        """A path says which folder is meant, too; all paths and --folder must mean the same one."""
        if ctx is None or not folder.is_dir():
            return
        given = ctx.params.get("folder") or ctx.meta.setdefault(MEANT, Path(os.path.relpath(folder)))
        if given.resolve() != folder:
            self.fail(f"{os.path.relpath(folder)} is another folder than {given}", param, ctx)


class ExerciseNames(ExerciseName):
    """An argument that names an exercise, or a chapter by its name or its folder: a tuple of ids."""

    name = "exercise or chapter"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The id of the exercise, or those of the chapter, in order."""
        path = Path(value)
        chapter = value if value in CHAPTERS else chapter_at(path)
        if chapter is None:
            return (super().convert(value, param, ctx),)
        if path.is_dir() and chapter_at(path) is not None:
            self._require_folder(path.resolve().parent, param, ctx)
        return tuple(exercise.id for exercise in exercises_in(chapter))


def exercises_argument(command: Command) -> Command:
    """Any number of exercises and chapters, as the ids of the exercises, each once."""
    argument = click.argument("exercises", type=ExerciseNames(), nargs=-1, callback=_each_once)
    return argument(command)


def _each_once(
    context: click.Context, parameter: click.Parameter, named: tuple[tuple[str, ...], ...]
) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(named)))


def _advice(value: str) -> str:
    """A sentence that helps after a misspelt exercise."""
    known = [*EXERCISES, *(each.name for each in EXERCISES.values()), *CHAPTERS]
    close = nearest(value, known)
    return f"Did you mean {close!r}?" if close else "All are shown by: grpo-ref list"


def folder_option(command: Command) -> Command:
    """The option --folder, as a Path that exists."""
    option = click.option(
        "--folder",
        type=click.Path(path_type=Path),
        callback=_existing,
        help=f"Where the exercises lie; by default here, else in {OWN}/, else in {CHECKED_OUT}/.",
    )
    return option(command)


def root_option(command: Command) -> Command:
    """The option --root of authors, as a Path; the package in that folder is known from then on."""
    option = click.option(
        "--root",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        default=".",
        is_eager=True,
        callback=_with_its_package,
        help="The checkout of grpo_ref, or of a package of your own.",
    )
    return option(command)


def _with_its_package(context: click.Context, parameter: click.Parameter, root: Path) -> Path:
    source_at(root)
    return root


def _existing(context: click.Context, parameter: click.Parameter, given: Path | None) -> Path:
    folder: Path = given or context.meta.get(MEANT) or _default_folder()
    if not folder.is_dir():
        raise click.UsageError(f"there is no folder {folder}; one is written by: grpo-ref init {folder}")
    return folder


def _default_folder() -> Path:
    """Here; else the student's own folder; else that of a checkout, for those who work in it."""
    if file_of(next(iter(EXERCISES))).is_file():
        return Path(".")
    return Path(CHECKED_OUT if Path(CHECKED_OUT).is_dir() and not Path(OWN).is_dir() else OWN)


def open_workbook(folder: Path) -> Workbook:
    """The student's folder; what is wrong with its progress file is told on standard error."""
    return Workbook(folder, lambda text: click.echo(text, err=True))


def require_exercises(workbook: Workbook) -> None:
    """Stop with an error that says how to write them if there are no exercises in the folder at all."""
    if not workbook.has_exercises():
        raise click.UsageError(
            f"there are no exercises in {workbook.folder}; they are written by:"
            f" grpo-ref init {workbook.folder}"
        )


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
