"""`grpo-ref init`: write the exercises into a folder, or update the folder."""

from pathlib import Path

import click

import grpo_ref
from grpo_ref.course.commands.exercise import CHECKED_OUT, OWN, open_workbook
from grpo_ref.course.contents import CHAPTERS, EXERCISES
from grpo_ref.course.layout import page_of
from grpo_ref.course.statement_file import LANGUAGES


def _own_or_begun() -> str:
    """Return the student's own folder, or the checkout's if the student has begun to work there."""
    begun = not Path(OWN).is_dir() and open_workbook(Path(CHECKED_OUT)).progress.points
    return CHECKED_OUT if begun else OWN


@click.command("init", epilog="Example:  grpo-ref init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=_own_or_begun)
@click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    help="Language of the statements and hints; by default English, or the folder's language so far."
    " An exercise that is not translated stays in English.",
)
def command(folder: Path, language: str | None) -> None:
    """Write the exercises into FOLDER, by default my-exercises: a folder of your own.

    Run it again after an upgrade. Files that you have not changed get the newer text; your own files are
    never overwritten.
    """
    workbook = open_workbook(folder)
    written, upgraded, kept = grpo_ref.course.fill(workbook, language)
    click.echo(
        f"{folder}: {written} files written, {upgraded} brought up to date, {kept} of yours left alone"
    )
    option = "" if folder == Path(OWN) else f" --folder {folder}"
    click.echo(f"\nread  {folder / page_of(next(iter(CHAPTERS)))}")
    click.echo(f"edit  {workbook.path(next(iter(EXERCISES)))}")
    click.echo(f"then  grpo-ref watch{option}   or   pytest {folder}")
