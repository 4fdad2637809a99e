"""`grpo-ref gradescope`: make an autograder to upload to Gradescope, and run it there."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grpo_ref.course import classroom
from grpo_ref.course.commands.course_options import EXISTING, chosen_course, course_options
from grpo_ref.course.grading.report import DEFAULT_SEED
from grpo_ref.course.grading.wasm import WasmMissing
from grpo_ref.files import replace_file, replace_text

if TYPE_CHECKING:
    from grpo_ref.course.classroom import CourseFile, Override

VISIBILITIES = ("visible", "after_due_date", "after_published", "hidden")
"""Gradescope's names for the time at which students see the results."""
COURSE, OVERRIDES = "course.toml", "overrides.toml"
overrides_option = click.option(
    "--overrides", type=EXISTING, help="Your decisions for single students, who are named by their address."
)
visibility_option = click.option(
    "--visibility",
    type=click.Choice(VISIBILITIES),
    default="visible",
    show_default=True,
    help="When students see the results; the values are Gradescope's.",
)
per_day_option = click.option(
    "--per-day",
    type=click.IntRange(min=1),
    help="Largest number of submissions graded within 24 hours; by default unlimited.",
)


@click.group("gradescope", epilog="Example:  grpo-ref gradescope build --out autograder.zip")
def command() -> None:
    """Make an autograder to upload to Gradescope."""


@command.command(
    "build",
    epilog="Example:  grpo-ref gradescope build --course course.toml --assignment week-1 --out week-1.zip",
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The archive to write."
)
@course_options
@overrides_option
@visibility_option
@per_day_option
@click.option(
    "--wheel",
    "wheels",
    type=EXISTING,
    multiple=True,
    help="A wheel to install there: exercises of your own, or your build of grpo-ref. Repeatable.",
)
def build(
    out: Path,
    course_file: Path | None,
    assignments: tuple[str, ...],
    overrides: Path | None,
    visibility: str,
    per_day: int | None,
    wheels: tuple[Path, ...],
) -> None:
    """Write the archive to upload as the autograder of a programming assignment."""
    from grpo_ref.course.classroom.autograder import build

    course = chosen_course(course_file, (), assignments)
    _decided(overrides, course)
    files = {wheel.name: wheel.read_bytes() for wheel in wheels}
    options = [f"--visibility={visibility}", *(f"--assignment={name}" for name in assignments)]
    if course_file is not None:
        files[COURSE] = course_file.read_bytes()
        options.append(f"--course={COURSE}")
    if overrides is not None:
        files[OVERRIDES] = overrides.read_bytes()
        options.append(f"--overrides={OVERRIDES}")
    if per_day is not None:
        options.append(f"--per-day={per_day}")
    archive = build(files, _requirements(wheels), options)
    replace_file(out, lambda file: file.write(archive))
    points = sum(course.points_of(name) for name in course.exercises)
    click.echo(f"{out}: {len(course.exercises)} exercises, {points:g} points")
    click.echo("next: in Gradescope, set the points of the assignment to that and upload it under")
    click.echo("      Configure Autograder; its image should have at least 2 GB of memory")


@command.command("run", epilog="Example:  grpo-ref gradescope run /autograder --course course.toml")
@click.argument("root", type=click.Path(path_type=Path, exists=True, file_okay=False))
@course_options
@overrides_option
@visibility_option
@per_day_option
def run(
    root: Path,
    course_file: Path | None,
    assignments: tuple[str, ...],
    overrides: Path | None,
    visibility: str,
    per_day: int | None,
) -> None:
    """Grade the submission in ROOT, Gradescope's folder. The autograder runs this command."""
    from grpo_ref.course.classroom.autograder import (
        METADATA,
        RESULTS,
        graded,
        read_metadata,
        too_many,
        within_a_day,
    )

    course = chosen_course(course_file, (), assignments)
    decisions = _decided(overrides, course)
    seed = DEFAULT_SEED if course.seed is None else course.seed
    try:
        metadata = read_metadata(root / METADATA)
        if per_day is not None and within_a_day(metadata) >= per_day:
            result = too_many(metadata, per_day)
        else:
            prepared()
            result = graded(root, metadata, course, decisions, seed)
    except (ValueError, classroom.Unreadable) as error:
        raise click.ClickException(str(error)) from error
    result["visibility"] = visibility
    path = root / RESULTS
    path.parent.mkdir(exist_ok=True)
    replace_text(path, json.dumps(result, indent=1, allow_nan=False) + "\n")
    click.echo(f"{metadata.student}: {result['score']:g} points, written to {path}")


@command.command("prepare", epilog="Example:  grpo-ref gradescope prepare")
def prepare() -> None:
    """Compile the sandbox in advance. The autograder's set-up runs this command, so that no submission has to
    wait.
    """
    prepared()
    click.echo("the sandbox is ready")


def prepared() -> None:
    """Verify and compile the sandbox."""
    try:
        classroom.prepare()
    except WasmMissing as error:
        raise click.ClickException(str(error)) from error


def _decided(path: Path | None, course: "CourseFile") -> "tuple[Override, ...]":
    try:
        return () if path is None else classroom.read_overrides(path, course)
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _requirements(wheels: tuple[Path, ...]) -> list[str]:
    """Return the packages to install: this version of grpo-ref, or the given wheel of it, and the other
    wheels.
    """
    ours = [wheel.name for wheel in wheels if wheel.name.startswith("grpo_ref-")]
    others = [f"./{wheel.name}" for wheel in wheels if wheel.name not in ours]
    return [f"./{ours[0]}[class]" if ours else f"grpo-ref[class]=={version('grpo-ref')}", *others]
