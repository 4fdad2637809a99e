"""`grpo-ref list`: the exercises of the course, and what has been reached."""

from pathlib import Path

import click

from grpo_ref.course.contents import CHAPTERS, HINTS, Exercise, exercises_in
from grpo_ref.course.layout import file_of
from grpo_ref.course.progress import Progress
from grpo_ref.frontends.course_text import overview
from grpo_ref.frontends.exercise import folder_option, open_workbook


@click.command("list", epilog="Example:  grpo-ref list")
@folder_option
def command(folder: Path) -> None:
    """List the exercises by chapter: points reached, difficulty, hints read, file.

    A star marks what has been solved once. The points are the most that were reached, as progress.txt has
    them; nothing is graded anew, so they are a student's own record and no proof.
    """
    workbook = open_workbook(folder)
    progress = workbook.progress
    for chapter, title in CHAPTERS.items():
        click.secho(title, bold=True)
        for exercise in exercises_in(chapter):
            click.echo(_row(exercise, progress))
    click.echo("\n" + overview(workbook))


def _row(exercise: Exercise, progress: Progress) -> str:
    reached, hints = progress.points.get(exercise.id, 0.0), progress.hints.get(exercise.id, 0)
    mark = "*" if reached >= exercise.points else " "
    points = f"{reached:g} of {exercise.points} pt"
    used = f"{hints} of {HINTS} hints" if hints else ""
    columns = f"{mark} {exercise.id:32} {points:13} {exercise.difficulty:7} {used:13}"
    return f"{columns} {file_of(exercise.id)}"
