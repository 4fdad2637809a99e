"""Options and arguments that the commands of the course share: exercises, chapters and folders."""

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
"""The student's own folder, which `init` writes, and the folder of a checkout, which later versions change.
"""
MEANT = "grpo_ref.folder"
"""Key in a command's context of the folder in which its paths lie."""


class ExerciseName(click.ParamType[str]):
    """An argument that names an exercise: by its id, by the last part of the id, or by its file."""

    name = "exercise"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the id of the exercise, or fail with a suggestion."""
        by_name = exercise_called(value)
        path = Path(value).resolve()
        by_file = exercise_at(path) if path.suffix == ".py" else None
        if by_file is not None:
            self._require_folder(path.parents[1], param, ctx)
        if by_file or by_name:
            return by_file or by_name
        self.fail(f"no exercise is called {value!r}. {_advice(str(value))}", param, ctx)

    def _require_folder(self, folder: Path, param: click.Parameter | None, ctx: click.Context | None) -> None:
        """Record the folder of a path. All paths and --folder must name the same folder."""
        if ctx is None or not folder.is_dir():
            return
        given = ctx.params.get("folder") or ctx.meta.setdefault(MEANT, Path(os.path.relpath(folder)))
        if given.resolve() != folder:
            self.fail(
                f"all files must lie in one folder: {given} differs from {os.path.relpath(folder)}",
                param,
                ctx,
            )


class ExerciseNames(ExerciseName):
    """An argument that names an exercise, or a chapter by its name or folder; its value is a tuple of ids."""

    name = "exercise or chapter"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the id of the exercise, or the ids of the chapter's exercises, in order."""
        path = Path(value)
        chapter = value if value in CHAPTERS else chapter_at(path)
        if chapter is None:
            return (super().convert(value, param, ctx),)
        if path.is_dir() and chapter_at(path) is not None:
            self._require_folder(path.resolve().parent, param, ctx)
        return tuple(exercise.id for exercise in exercises_in(chapter))


def exercises_argument(command: Command) -> Command:
    """Add an argument for any number of exercises and chapters; its value holds each exercise's id once."""
    argument = click.argument("exercises", type=ExerciseNames(), nargs=-1, callback=_each_once)
    return argument(command)


def _each_once(
    context: click.Context, parameter: click.Parameter, named: tuple[tuple[str, ...], ...]
) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(named)))


def _advice(value: str) -> str:
    """Return a sentence that helps after a misspelled exercise."""
    known = [*EXERCISES, *(each.name for each in EXERCISES.values()), *CHAPTERS]
    close = nearest(value, known)
    return f"Did you mean {close!r}?" if close else "For a list, run: grpo-ref list"


def folder_option(command: Command) -> Command:
    """Add the option --folder, whose value is the path of a folder that exists."""
    option = click.option(
        "--folder",
        type=click.Path(path_type=Path),
        callback=_existing,
        help=f"Folder of the exercises; by default the current one, else {OWN}/, else {CHECKED_OUT}/.",
    )
    return option(command)


def root_option(command: Command) -> Command:
    """Add the authors' option --root, a path. The package in that folder is known from then on."""
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
        raise click.UsageError(f"there is no folder {folder}; to write it, run: grpo-ref init {folder}")
    return folder


def _default_folder() -> Path:
    """Return the current folder if it has exercises, else the student's folder, else the checkout's."""
    if file_of(next(iter(EXERCISES))).is_file():
        return Path(".")
    return Path(CHECKED_OUT if Path(CHECKED_OUT).is_dir() and not Path(OWN).is_dir() else OWN)


def open_workbook(folder: Path) -> Workbook:
    """Return the student's folder. Problems with its progress file are printed to standard error."""
    return Workbook(folder, lambda text: click.echo(text, err=True))


def require_exercises(workbook: Workbook) -> None:
    """Stop with an error that says how to write the exercises, if the folder has none."""
    if not workbook.has_exercises():
        raise click.UsageError(
            f"there are no exercises in {workbook.folder}; to write them, run:"
            f" grpo-ref init {workbook.folder}"
        )


@contextmanager
def saying_what_is_graded(name: str) -> Iterator[None]:
    """Show in a terminal which exercise is being graded. The line is removed when the report is shown."""
    if not sys.stderr.isatty():
        yield
        return
    click.echo(f"grading {name} ...", err=True, nl=False)
    try:
        yield
    finally:
        click.echo(f"\r{' ' * len(f'grading {name} ...')}\r", err=True, nl=False)
