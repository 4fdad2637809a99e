"""`grpo-ref list`: the exercises of the course."""

import click

from grpo_ref.problems import CHAPTERS, PROBLEMS
from grpo_ref.problems.course import file_of


@click.command("list", epilog="Example:  grpo-ref list")
def command() -> None:
    """List the exercises by chapter, with points, difficulty and file."""
    for chapter, title in CHAPTERS.items():
        click.echo(title)
        for problem in PROBLEMS.values():
            if problem.id.startswith(f"{chapter}/"):
                click.echo(
                    f"  {problem.id:34} {problem.points} pt  {problem.difficulty:6}  {file_of(problem)}"
                )
