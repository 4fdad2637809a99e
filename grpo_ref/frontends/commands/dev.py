"""`grpo-ref dev`: for authors of exercises."""

import concurrent.futures
import re
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import NamedTuple

import click

import grpo_ref
from grpo_ref.course.contents import CHAPTERS, HINTS
from grpo_ref.course.grading.report import PASSED
from grpo_ref.course.layout import file_of
from grpo_ref.course.problems import PROBLEMS
from grpo_ref.files import replace_text
from grpo_ref.frontends.commands.attack import command as attack
from grpo_ref.frontends.exercise import exercises_argument
from grpo_ref.frontends.output import columns, plain_option

FEWEST_MUTANTS = 6
WIDE = 70
"""Columns that a line of `dev check` takes."""
TEMPLATES = Path(__file__).with_name("templates")
root_option = click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=".",
    help="The checkout, with grpo_ref/, solutions/ and exercises/.",
)


@click.group("dev", epilog="Example:  grpo-ref dev check")
def command() -> None:
    """For authors: prove the exercises, make the starters from the solutions, begin a new exercise."""


command.add_command(attack)


@command.command("build", epilog="Example:  grpo-ref dev build")
@root_option
def build(root: Path) -> None:
    """Write exercises/ from solutions/, and the page of each chapter.

    An answer that stands there is moved to a backup beside it, unless it is as your last commit has it.
    """
    written, backups = grpo_ref.course.build(root, lambda text: click.echo(text, err=True))
    for path in written:
        click.echo(f"written: {path}")
    for path in backups:
        click.echo(f"somebody's work is kept in {path}")
    click.echo(f"{root / 'exercises'}: {len(written)} files written, {len(backups)} kept in a backup")


@command.command("new", epilog="Example:  grpo-ref dev new advantages/median_centered")
@click.argument("name")
@root_option
def new(name: str, root: Path) -> None:
    """Begin the exercise NAME, as in CHAPTER/FUNCTION.

    This writes a problem module, a model answer and right answers in other styles to fill in, and a line in
    the table of contents, where the exercise is the last of its chapter, easy and of one point until you
    change that.
    """
    if not re.fullmatch(r"[a-z0-9_]+/[a-z][a-z0-9_]*", name) or name.split("/")[0] not in CHAPTERS:
        chapters = ", ".join(CHAPTERS)
        raise click.UsageError(f"NAME is CHAPTER/FUNCTION, with one of the chapters {chapters}; got {name!r}")
    texts = {
        root / "grpo_ref" / "course" / "problems" / f"{name}.py": _from_template("problem.py.txt", name),
        root / "solutions" / file_of(name): _from_template("solution.py.txt", name),
        root / "tests" / "course" / "styles" / f"{name}.py": _from_template("styles.py.txt", name),
    }
    for path in texts:
        if path.exists():
            raise click.UsageError(f"{path} is there already")
    contents = root / "grpo_ref" / "course" / "contents.py"
    texts[contents] = _with_line(contents.read_text(encoding="utf-8"), name)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, text)
        click.echo(f"written: {path}")
    click.echo(f"next: fill in the TODOs, and choose place, difficulty and points in {contents}")
    click.echo(f"then: grpo-ref dev attack {name} && grpo-ref dev build && grpo-ref dev check {name} --table")


def _from_template(template: str, name: str) -> str:
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    return Template(text).substitute(id=name, name=name.split("/")[1])


def _with_line(contents: str, name: str) -> str:
    """The table of contents with a line for the exercise behind the last one of its chapter."""
    lines = contents.splitlines(keepends=True)
    chapter = f'    Exercise("{name.split("/")[0]}/'
    last = max(number for number, line in enumerate(lines) if line.startswith(chapter))
    return "".join([*lines[: last + 1], f'    Exercise("{name}", "easy", 1),\n', *lines[last + 1 :]])


class Proof(NamedTuple):
    """What `prove` found.

    Attributes:
      matrix: name of each wrong answer -> names of the checks that catch it.
      faults: what is not as it should be, in words.
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

    The reference, the model answer and right answers in other styles pass; the starter fails and is up to
    date; every wrong answer is caught, and every check catches one; the tolerance is as declared. Exit
    status 1 if anything is not as it should be.
    """
    problems = [PROBLEMS[name] for name in exercises or PROBLEMS]
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
    """One exercise in a line, or in a sentence where columns are not wanted or have no room."""
    checks, wrong, found = len(problem.checks), len(proof.matrix), "; ".join(proof.faults) or "ok"
    if plain or columns() < WIDE:
        return f"{problem.id}: {checks} checks, {wrong} wrong answers, {found}"
    return f"{problem.id:34} {checks:2} checks  {wrong:2} wrong answers  {found}"


def prove(name: str, root: Path) -> Proof:
    """Examine one exercise from both sides.

    Args:
      name: its id.
      root: the checkout with its solution and starter.
    """
    problem = PROBLEMS[name]
    matrix = grpo_ref.course.kill_matrix(problem)
    return Proof(matrix, _faults(problem, matrix) + _file_faults(problem, root))


def _faults(problem: "grpo_ref.course.Problem", matrix: "grpo_ref.course.Matrix") -> list[str]:
    right = {"the reference": problem.reference, **problem.others}
    faults = [
        f"{name} fails"
        for name, answer in right.items()
        if grpo_ref.course.grade(problem, answer).status != PASSED
    ]
    faults += [f"not caught: {name}" for name, killed in matrix.items() if not killed]
    faults += [f"{len(problem.hints)} hints instead of {HINTS}"] * (len(problem.hints) != HINTS)
    faults += [f"only {len(matrix)} wrong answers"] * (len(matrix) < FEWEST_MUTANTS)
    caught = {name for killed in matrix.values() for name in killed}
    own = grpo_ref.course.own_checks(problem)
    faults += [f"catches nothing: {check.name}" for check in own if check.name not in caught]
    inside, outside = grpo_ref.course.near_misses(problem)
    return faults + ["tolerance too tight"] * (not inside) + ["tolerance too wide"] * (not outside)


def _file_faults(problem: "grpo_ref.course.Problem", root: Path) -> list[str]:
    """What is wrong with the model answer and the starter made from it."""
    answer, begin = root / "solutions" / file_of(problem.id), root / "exercises" / file_of(problem.id)
    missing = [f"{path} is missing" for path in (answer, begin) if not path.is_file()]
    if missing:
        return missing
    faults = ["the model answer fails"] * (grpo_ref.course.grade(problem, answer).status != PASSED)
    text = grpo_ref.course.starter(problem, answer.read_text(encoding="utf-8"))
    if begin.read_text(encoding="utf-8") != text:
        return [*faults, "the starter is not up to date: grpo-ref dev build"]
    return faults + ["the starter passes"] * (grpo_ref.course.grade(problem, begin).status == PASSED)


def _sentences(matrix: "grpo_ref.course.Matrix") -> Sequence[str]:
    """What catches each wrong answer, in words."""
    return [f"{mutant}: caught by {'; '.join(killed) or 'nothing'}." for mutant, killed in matrix.items()]


def _table(problem: "grpo_ref.course.Problem", matrix: "grpo_ref.course.Matrix") -> Sequence[str]:
    """One row per wrong answer, one column per check; the columns are named below."""
    names = [check.name for check in problem.checks]
    width = max(map(len, matrix))
    header = " " * (width + 4) + " ".join(f"{number:>2}" for number in range(1, len(names) + 1))
    rows = [
        f"  {mutant:{width}}  " + " ".join(" x" if name in killed else " ." for name in names)
        for mutant, killed in matrix.items()
    ]
    legend = [f"  {number:>2}  {name}" for number, name in enumerate(names, start=1)]
    return [header, *rows, *legend]
