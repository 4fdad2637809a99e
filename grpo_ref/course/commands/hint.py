"""`grpo-ref hint`: show the hints of one exercise, one more each time."""

from pathlib import Path

import click

from grpo_ref.course.commands.exercise import ExerciseNames, folder_option, open_workbook
from grpo_ref.course.exercises import hints_of
from grpo_ref.course.rendering.course_text import hints_text
from grpo_ref.render.output import plain_option


@click.command("hint", epilog="Example:  grpo-ref hint objective/grpo_objective")
@click.argument("exercise", type=ExerciseNames(), required=False)
@click.option(
    "--steps", type=click.IntRange(min=1), help="Number of hints to show; by default one more than last time."
)
@plain_option
@folder_option
def command(exercise: tuple[str, ...] | None, steps: int | None, plain: bool, folder: Path) -> None:
    """Show the next hint of an exercise. Each hint reveals more of the solution.

    Without EXERCISE, this is the first exercise that you have not solved; for a chapter, the first one in it.
    The number of hints that you have read is stored in progress.txt.
    """
    workbook = open_workbook(folder)
    name = workbook.first_open(exercise or ())
    hints = hints_of(name, workbook.progress.language)
    shown = workbook.climb(name, len(hints), steps)
    click.echo(hints_text(name, hints, shown, plain=plain))
