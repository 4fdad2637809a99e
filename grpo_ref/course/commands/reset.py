"""`grpo-ref reset`: start an exercise again."""

from pathlib import Path

import click

import grpo_ref
from grpo_ref.course.commands.exercise import ExerciseName, folder_option, open_workbook


@click.command("reset", epilog="Example:  grpo-ref reset kl/k3")
@click.argument("exercise", type=ExerciseName())
@folder_option
def command(exercise: str, folder: Path) -> None:
    """Restore the starter of an exercise. Your work is kept in a backup beside it."""
    workbook = open_workbook(folder)
    backup = grpo_ref.course.reset(workbook, exercise)
    click.echo(f"restored the starter of {workbook.path(exercise)}")
    click.echo(f"your work is in {backup}" if backup else "the file had no work of yours")
