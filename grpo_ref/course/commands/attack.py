"""`grpo-ref dev attack`: make hundreds of wrong answers, and find hidden cases that catch them."""

from pathlib import Path

import click

import grpo_ref
from grpo_ref.course.commands.exercise import exercises_argument, root_option
from grpo_ref.course.contents import source_at
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.render.output import plain_option

STORE = Path(".attack")
STAGES = ("search", "shrink", "signs", "checks")
PARTS = 6
"""Parts of the exercises. A share tries one part, since making the wrong answers takes the most time."""


@click.command("attack", epilog="Example:  grpo-ref dev attack ratios/clipped")
@exercises_argument
@click.option("--draws", default=1500, show_default=True, help="Number of inputs sampled from the domain.")
@click.option(
    "--most",
    default=2500,
    show_default=True,
    help="At most this many wrong answers per exercise, chosen evenly from all.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the sampled inputs.")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    help="Write nothing; try about this many wrong answers per exercise again.",
)
@click.option(
    "--share",
    type=click.IntRange(min=0),
    metavar="NUMBER",
    help=f"With --sample, try every {PARTS}th exercise. NUMBER decides which, and which wrong answers.",
)
@click.option("--table", "only_table", is_flag=True, help="Print the stored results as a Markdown table.")
@click.option(
    "--unfit", "show_unfit", is_flag=True, help="Show one input of each kind that right answers disagree on."
)
@plain_option
@root_option
def command(
    exercises: tuple[str, ...],
    draws: int,
    most: int,
    seed: int,
    sample: int | None,
    share: int | None,
    only_table: bool,
    show_unfit: bool,
    plain: bool,
    root: Path,
) -> None:
    """Attack EXERCISES or chapters; by default all exercises that declare a domain.

    Every right answer is made wrong in hundreds of ways. For each wrong answer, the attack searches inputs of
    the domain on which it is wrong, shrinks them and writes them beside the problem as hidden cases. Wrong
    answers that neither an input nor a check distinguishes from a right answer are listed in the file
    left.json of the exercise: read that list. If a run was stopped, the same command continues it. With
    --sample, the exit status is 1 if a wrong answer passes that is not on that list.
    """
    named = [PROBLEMS[name] for name in exercises or source_at(root).ids]
    problems = [problem for problem in named if problem.domain is not None]
    if not problems:
        raise click.UsageError(
            "expected an exercise that declares a domain, but none of these does; add domain= to one"
        )
    if share is not None and sample is None:
        raise click.UsageError("--share chooses a part of a sample: expected --sample too")
    if only_table:
        click.echo(grpo_ref.course.attack.table(problems))
        return
    if sample is not None:
        part, offset = (problems, 0) if share is None else (problems[share % PARTS :: PARTS], share // PARTS)
        if not part:
            click.echo(f"share {share} has none of these exercises")
        passes = [_sampled(each, sample, offset) for each in part]  # a list: all of them are tried
        raise click.exceptions.Exit(1 if any(passes) else 0)
    for problem in problems:
        outcome = _attacked(problem, draws, most, seed, root)
        grpo_ref.course.attack.freeze(outcome)
        click.echo(_line(outcome))
        if show_unfit:
            click.echo(grpo_ref.course.attack.unfit(outcome))


def _attacked(
    problem: "grpo_ref.course.Problem", draws: int, most: int, seed: int, root: Path
) -> "grpo_ref.course.attack.Outcome":
    """Run the attack with a progress bar for each stage."""
    from grpo_ref.render.progress import ProgressBar

    with ProgressBar(problem.id, "step", 100 * len(STAGES)) as progress:

        def show(stage: str, done: int, total: int) -> None:
            progress.show(int(100 * (STAGES.index(stage) + done / total)), f"{stage} {done}/{total}")

        store = grpo_ref.course.attack.Store(root / STORE / f"{problem.id}.jsonl")
        styles = grpo_ref.course.right_answers(problem)
        return grpo_ref.course.attack.attack(
            problem, styles, store, seed=seed, draws=draws, most=most, show=show
        )


def _line(outcome: "grpo_ref.course.attack.Outcome") -> str:
    return (
        f"{outcome.problem.id}: {outcome.made} wrong answers from {len(outcome.styles)} right ones;"
        f" {sum(outcome.caught.values())} caught by {len(outcome.cases)} hidden cases,"
        f" {outcome.missed} only by drawn inputs, {sum(outcome.by_checks.values())} only by other checks,"
        f" {len(outcome.left)} equal on {outcome.tried} inputs\n"
        f"  written: {grpo_ref.course.attack.file_of_cases(outcome.problem)}"
    )


def _sampled(problem: "grpo_ref.course.Problem", sample: int, offset: int) -> bool:
    """Try evenly spaced wrong answers again. Return whether one passes that is not on the list."""
    from grpo_ref.render.progress import ProgressBar

    made = grpo_ref.course.attack.wrong_answers(
        problem,
        grpo_ref.course.right_answers(problem),
        grpo_ref.course.attack.most_of(problem),
    )
    step = max(1, len(made) // sample)
    chosen = made[offset % step :: step]
    with ProgressBar(problem.id, "answer", len(chosen)) as progress:
        passed = grpo_ref.course.attack.survivors_of(
            chosen, problem, lambda stage, done, total: progress.show(done, stage)
        )
    known = grpo_ref.course.attack.reasons_of(grpo_ref.course.attack.file_of_left(problem))
    new = [wrong for wrong in passed if wrong.change not in known]
    click.echo(f"{problem.id}: {len(chosen)} of {len(made)} wrong answers tried, {len(new)} pass unlisted")
    for wrong in new:
        click.echo(f"  {wrong.operator}, in {wrong.style}\n    {wrong.change}")
    return bool(new)
