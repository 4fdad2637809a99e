"""`grpo-ref hint`: a ladder of hints for one exercise."""

from pathlib import Path

import click

from grpo_ref.course.grading.problem import Problem
from grpo_ref.frontends.exercise import Exercise, folder_option, open_workbook
from grpo_ref.frontends.text import hints_text


@click.command("hint", epilog="Example:  grpo-ref hint objective/grpo_objective")
@click.argument("exercise", type=Exercise())
@click.option(
    "--steps", type=click.IntRange(min=1), help="How many hints to show; by default one more than last time."
)
@folder_option
def command(exercise: Problem, steps: int | None, folder: Path) -> None:
    """Show the next hint of an exercise; each one gives more away.

    How many you have read is noted in progress.txt.
    """
    click.echo(hints_text(exercise, open_workbook(folder).hints(exercise, steps)))
