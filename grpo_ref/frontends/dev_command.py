"""`grpo-ref dev`: for authors of exercises."""

from functools import partial
from pathlib import Path
from typing import IO

import click

from grpo_ref.files import replace_file
from grpo_ref.grading.grade import PASSED, grade
from grpo_ref.grading.matrix import kill_matrix, near_misses
from grpo_ref.grading.problem import Problem
from grpo_ref.grading.statement import starter
from grpo_ref.problems import PROBLEMS
from grpo_ref.problems.course import file_of

FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.group("dev", epilog="Example:  grpo-ref dev check")
def command() -> None:
    """For authors: prove the exercises, and make the starters from the solutions."""


@command.command("build", epilog="Example:  grpo-ref dev build")
@click.option("--root", type=FOLDER, default=".", help="Folder that holds solutions/ and exercises/.")
def build(root: Path) -> None:
    """Write exercises/ from solutions/."""
    for problem in PROBLEMS.values():
        path = root / "exercises" / file_of(problem)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = starter(problem, (root / "solutions" / file_of(problem)).read_text(encoding="utf-8"))
        replace_file(path, partial(_write, text.encode()))
        click.echo(path)


def _write(content: bytes, file: IO[bytes]) -> None:
    file.write(content)


@command.command("check", epilog="Example:  grpo-ref dev check")
def check() -> None:
    """Prove every exercise: the reference passes, other right answers pass, every wrong answer is caught.

    Exit status 1 if anything is not as it should be.
    """
    faults, mutants = [], 0
    for problem in PROBLEMS.values():
        matrix = kill_matrix(problem)
        mutants += len(matrix)
        found = _faults(problem, matrix)
        faults += found
        counts = f"{len(problem.checks):2} checks  {len(matrix):2} mutants"
        click.echo(f"{problem.id:34} {counts}  {'; '.join(found) or 'ok'}")
        for check in problem.checks:
            click.echo(
                f"    {sum(check.name in killed for killed in matrix.values()):2} caught by  {check.name}"
            )
    click.echo(f"{len(PROBLEMS)} exercises, {mutants} mutants, {len(faults)} faults")
    raise click.exceptions.Exit(1 if faults else 0)


def _faults(problem: Problem, matrix: dict[str, tuple[str, ...]]) -> list[str]:
    """What is wrong with an exercise."""
    right = {"the reference": problem.reference, **problem.others}
    faults = [f"{name} fails" for name, answer in right.items() if grade(problem, answer).status != PASSED]
    faults += [f"not caught: {name}" for name, killed in matrix.items() if not killed]
    caught = {name for killed in matrix.values() for name in killed}
    faults += [f"catches nothing: {check.name}" for check in problem.checks if check.name not in caught]
    inside, outside = near_misses(problem)
    return faults + ["tolerance too tight"] * (not inside) + ["tolerance too wide"] * (not outside)
