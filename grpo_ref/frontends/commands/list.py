"""`grpo-ref list`: the exercises of the course, and what has been reached."""

from pathlib import Path

import click

from grpo_ref.course.layout import file_of, problems_in
from grpo_ref.course.problems import CHAPTERS
from grpo_ref.frontends.exercise import folder_option, open_workbook
from grpo_ref.frontends.text import overview


@click.command("list", epilog="Example:  grpo-ref list")
@folder_option
def command(folder: Path) -> None:
    """List the exercises by chapter: points reached, difficulty, hints read, file.

    A star marks what has been solved once. The points are the most that were reached, as progress.txt has
    them; nothing is graded anew, so they are a student's own record and no proof.
    """
    workbook = open_workbook(folder)
    for chapter, title in CHAPTERS.items():
        click.secho(title, bold=True)
        for problem in problems_in(chapter):
            mark = "*" if workbook.is_solved(problem) else " "
            points = f"{workbook.progress.points.get(problem.id, 0.0):g} of {problem.points} pt"
            hints = workbook.progress.hints.get(problem.id, 0)
            used = f"{hints} of {len(problem.hints)} hints" if hints else ""
            columns = f"{mark} {problem.id:32} {points:13} {problem.difficulty:7} {used:13}"
            click.echo(f"{columns} {file_of(problem)}")
    click.echo("\n" + overview(workbook))
