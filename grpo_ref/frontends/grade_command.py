"""`grpo-ref grade`: grade exercises and show what is wrong with them."""

from pathlib import Path

import click

from grpo_ref.frontends.cli import Name
from grpo_ref.frontends.text import report_text
from grpo_ref.grading.grade import DEFAULT_SEED, PASSED, grade
from grpo_ref.problems import PROBLEMS
from grpo_ref.problems.course import file_of


@click.command("grade", epilog="Example:  grpo-ref grade objective/grpo_objective")
@click.argument("names", type=Name("exercise", PROBLEMS), nargs=-1)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default="exercises",
    show_default=True,
    help="Where the exercises lie.",
)
@click.option("--seed", type=int, default=DEFAULT_SEED, show_default=True, help="Of the random inputs.")
@click.pass_context
def command(context: click.Context, names: tuple[str, ...], folder: Path, seed: int) -> None:
    """Grade exercises, by default all of them; each runs in a process of its own.

    Exit status: 0 if all of them pass, 1 if one does not, 2 for a wrong name or folder.
    """
    reports = []
    for problem in [PROBLEMS[name] for name in names] or PROBLEMS.values():
        path = folder / file_of(problem)
        if not path.is_file():
            raise click.UsageError(f"{path} is missing; it is made by: grpo-ref dev build")
        reports.append(grade(problem, path, seed=seed))
        click.echo(report_text(reports[-1]) + "\n")
    reached, total = sum(report.points for report in reports), sum(report.of for report in reports)
    solved = sum(report.status == PASSED for report in reports)
    click.echo(f"{solved} of {len(reports)} solved, {reached:g} of {total} points (seed {seed})")
    context.exit(0 if solved == len(reports) else 1)
