"""`grpo-ref init`: write the exercises into a folder, or bring it up to date."""

from pathlib import Path

import click

import grpo_ref
from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.layout import page_of
from grpo_ref.frontends.exercise import OWN, open_workbook


@click.command("init", epilog="Example:  grpo-ref init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=OWN)
def command(folder: Path) -> None:
    """Write the exercises into FOLDER, by default my-exercises: a folder of your own.

    Run it again after an upgrade: files that you have not touched get the newer text, yours are never
    overwritten.
    """
    workbook = open_workbook(folder)
    written, upgraded, kept = grpo_ref.course.fill(workbook)
    click.echo(
        f"{folder}: {written} files written, {upgraded} brought up to date, {kept} of yours left alone"
    )
    first = workbook.path(next(iter(EXERCISES)))
    page = workbook.folder / page_of(EXERCISES[next(iter(EXERCISES))].chapter)
    option = "" if folder == Path(OWN) else f" --folder {folder}"
    click.echo(f"\nRead {page}, edit {first}, then:\n  grpo-ref watch{option}     or: pytest {folder}")
