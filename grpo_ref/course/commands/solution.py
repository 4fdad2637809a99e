"""`grpo-ref solution`: show the model answer of an exercise."""

from pathlib import Path

import click

from grpo_ref.course.commands.exercise import ExerciseName, folder_option, open_workbook
from grpo_ref.course.grading.model_answers import readable
from grpo_ref.course.layout import model_answer


@click.command("solution", epilog="Example:  grpo-ref solution kl/k3")
@click.argument("exercise", type=ExerciseName())
@click.option(
    "--yes",
    is_flag=True,
    help="Show the model answer without asking, even if you have not solved the exercise.",
)
@folder_option
def command(exercise: str, yes: bool, folder: Path) -> None:
    """Show the model answer. If you have not solved the exercise, you are asked first.

    Exit status 1 if you decline.
    """
    if not yes and not open_workbook(folder).is_solved(exercise):
        click.confirm(f"{exercise} is not solved yet. Show the model answer?", abort=True, err=True)
    click.echo(readable(model_answer(exercise)), nl=False)
