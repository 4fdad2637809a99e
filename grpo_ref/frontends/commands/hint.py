"""`grpo-ref hint`: a ladder of hints for one exercise."""

from pathlib import Path

import click

from grpo_ref.course.problems import hints_of
from grpo_ref.frontends.course_text import hints_text
from grpo_ref.frontends.exercise import ExerciseName, folder_option, open_workbook


@click.command("hint", epilog="Example:  grpo-ref hint objective/grpo_objective")
@click.argument("exercise", type=ExerciseName())
@click.option(
    "--steps", type=click.IntRange(min=1), help="How many hints to show; by default one more than last time."
)
@folder_option
def command(exercise: str, steps: int | None, folder: Path) -> None:
    """Show the next hint of an exercise; each one gives more away.

    How many you have read is noted in progress.txt.
    """
    hints = hints_of(exercise)
    shown = open_workbook(folder).climb(exercise, len(hints), steps)
    click.echo(hints_text(exercise, hints, shown))
