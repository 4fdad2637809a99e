"""`grpo-ref dev`: commands for authors of exercises."""

import concurrent.futures
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

import grpo_ref
from grpo_ref.course.commands.attack import command as attack
from grpo_ref.course.commands.exercise import exercises_argument, root_option
from grpo_ref.course.commands.new import command as new
from grpo_ref.course.contents import source_at
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.grading.model_answers import readable
from grpo_ref.course.grading.report import PASSED
from grpo_ref.course.layout import SOLUTIONS, file_of, model_answer
from grpo_ref.render.output import columns, plain_option

FEWEST_MUTANTS = 6
WIDE = 70
"""Columns that a line of `dev check` takes."""


@click.group("dev", epilog="Example:  grpo-ref dev check")
def command() -> None:
    """Commands for authors: prove the exercises, write the starters and solutions, begin an exercise."""


command.add_command(attack)
command.add_command(new)


@command.command("build", epilog="Example:  grpo-ref dev build")
@root_option
def build(root: Path) -> None:
    """Write exercises/ and solutions/ from the package, and the page of each chapter.

    If one of these files differs from your last commit, it is moved to a backup beside the new one.
    """
    written, backups = grpo_ref.course.build(root, lambda text: click.echo(text, err=True))
    for path in written:
        click.echo(f"written: {path}")
    for path in backups:
        click.echo(f"a file with changes was moved to {path}")
    click.echo(f"{root / 'exercises'}: {len(written)} files written, {len(backups)} kept in a backup")


class Proof(NamedTuple):
    """The result of `prove`.

    Attributes:
      matrix: name of each wrong answer -> names of the checks that catch it.
      faults: the faults found, in words.
    """

    matrix: "grpo_ref.course.Matrix"
    faults: list[str]


@command.command("check", epilog="Example:  grpo-ref dev check kl/k3 --table")
@exercises_argument
@plain_option
@click.option("--table", is_flag=True, help="Show which check catches which wrong answer.")
@root_option
def check(exercises: tuple[str, ...], plain: bool, table: bool, root: Path) -> None:
    """Prove EXERCISES or chapters, by default all of them, several at a time.

    An exercise is proved if the reference, the model answer and right answers in other styles pass; the
    starter fails and is up to date; every wrong answer is caught, and every check catches one; and the
    tolerance is as declared. Exit status 1 if there is any fault.
    """
    problems = [PROBLEMS[name] for name in exercises or source_at(root).ids]
    mutants, checks, faults = 0, 0, 0
    with concurrent.futures.ProcessPoolExecutor() as pool:
        proofs = pool.map(prove, [problem.id for problem in problems], [root] * len(problems))
        for problem, proof in zip(problems, proofs, strict=True):
            mutants, checks = mutants + len(proof.matrix), checks + len(problem.checks)
            faults += len(proof.faults)
            click.echo(_verdict(problem, proof, plain))
            if table:
                lines = _sentences(proof.matrix) if plain else _table(problem, proof.matrix)
                click.echo("\n".join(lines) + "\n")
    survivors = "no survivor" if not faults else f"{faults} fault{'s' * (faults != 1)}"
    click.echo(f"{len(problems)} exercises, {checks} checks, {mutants} wrong answers, {survivors}")
    raise click.exceptions.Exit(1 if faults else 0)


def _verdict(problem: "grpo_ref.course.Problem", proof: Proof, plain: bool) -> str:
    """Summarize one exercise in a line; in a sentence for plain text or a narrow terminal."""
    checks, wrong, found = len(problem.checks), len(proof.matrix), "; ".join(proof.faults) or "ok"
    if plain or columns() < WIDE:
        return f"{problem.id}: {checks} checks, {wrong} wrong answers, {found}"
    return f"{problem.id:34} {checks:2} checks  {wrong:2} wrong answers  {found}"


def prove(name: str, root: Path) -> Proof:
    """Examine one exercise: its problem and its files.

    Args:
      name: id of the exercise.
      root: the checkout with its solution and starter.
    """
    source_at(root)  # a process of its own may not know the package yet
    problem = PROBLEMS[name]
    matrix = grpo_ref.course.kill_matrix(problem)
    return Proof(matrix, _faults(problem, matrix) + _file_faults(problem, root))


def _faults(problem: "grpo_ref.course.Problem", matrix: "grpo_ref.course.Matrix") -> list[str]:
    from grpo_ref.course.grading.input_checks import function_of  # imports NumPy, which --help does not need

    right = {"the reference": problem.reference}
    texts = grpo_ref.course.right_answers(problem)
    right |= {name: function_of(text, problem.function) for name, text in texts.items()}
    faults = [
        f"{name} fails"
        for name, answer in right.items()
        if grpo_ref.course.grade(problem, answer).status != PASSED
    ]
    faults += [f"not caught: {name}" for name, killed in matrix.items() if not killed]
    faults += [f"only {len(matrix)} wrong answers"] * (len(matrix) < FEWEST_MUTANTS)
    caught = {name for killed in matrix.values() for name in killed}
    own = grpo_ref.course.own_checks(problem)
    faults += [f"catches nothing: {check.name}" for check in own if check.name not in caught]
    inside, outside = grpo_ref.course.near_misses(problem)
    return faults + ["tolerance too tight"] * (not inside) + ["tolerance too wide"] * (not outside)


def _file_faults(problem: "grpo_ref.course.Problem", root: Path) -> list[str]:
    """Return the faults of the model answer and of the starter made from it."""
    answer, begin = root / SOLUTIONS / file_of(problem.id), root / "exercises" / file_of(problem.id)
    missing = [f"{path} is missing" for path in (answer, begin) if not path.is_file()]
    if missing:
        return [f"{each}; run grpo-ref dev build" for each in missing]
    faults = ["the model answer fails"] * (grpo_ref.course.grade(problem, answer).status != PASSED)
    written = model_answer(problem.id)
    if answer.read_text(encoding="utf-8") != readable(written):
        return [*faults, "solutions/ is not up to date; run grpo-ref dev build"]
    text = grpo_ref.course.starter(problem, written)
    if begin.read_text(encoding="utf-8") != text:
        return [*faults, "the starter is not up to date; run grpo-ref dev build"]
    return faults + ["the starter passes"] * (grpo_ref.course.grade(problem, begin).status == PASSED)


def _sentences(matrix: "grpo_ref.course.Matrix") -> Sequence[str]:
    """Return one sentence per wrong answer with the checks that catch it."""
    return [f"{mutant}: caught by {'; '.join(killed) or 'nothing'}." for mutant, killed in matrix.items()]


def _table(problem: "grpo_ref.course.Problem", matrix: "grpo_ref.course.Matrix") -> Sequence[str]:
    """Return one row per wrong answer and one column per check, with the columns named below."""
    names = [check.name for check in problem.checks]
    width = max(map(len, matrix))
    header = " " * (width + 4) + " ".join(f"{number:>2}" for number in range(1, len(names) + 1))
    rows = [
        f"  {mutant:{width}}  " + " ".join(" x" if name in killed else " ." for name in names)
        for mutant, killed in matrix.items()
    ]
    legend = [f"  {number:>2}  {name}" for number, name in enumerate(names, start=1)]
    return [header, *rows, *legend]
