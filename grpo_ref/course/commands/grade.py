"""`grpo-ref grade`: grade exercises and explain the failed tests."""

import textwrap
from pathlib import Path

import click

import grpo_ref
from grpo_ref.course.commands.exercise import (
    exercises_argument,
    folder_option,
    open_workbook,
    require_exercises,
    saying_what_is_graded,
)
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.grading.report import DEFAULT_SEED, PASSED, Report
from grpo_ref.course.rendering.course_text import next_text
from grpo_ref.course.rendering.report_text import protection_text, report_text
from grpo_ref.course.workbook import Workbook
from grpo_ref.files import replace_text, require_writable
from grpo_ref.render.output import columns, plain_option
from grpo_ref.render.sentences import points_text

STDOUT = Path("-")


@click.command("grade", epilog="Example:  grpo-ref grade objective/grpo_objective --json report.json")
@exercises_argument
@folder_option
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=DEFAULT_SEED,
    show_default=True,
    help="Seed of the random inputs.",
)
@click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="Also write the report as JSON to this file, or to standard output for -.",
)
@click.option("--all", "every", is_flag=True, help="Show every failed test in full, not only the first.")
@plain_option
@click.option(
    "--in-process",
    is_flag=True,
    help="Run the answer inside the grader, so that print and breakpoint() work; not official.",
)
@click.option(
    "--pdb",
    "debug",
    is_flag=True,
    help="Like --in-process, and open a debugger if an exception fails a test.",
)
@click.pass_context
def command(
    context: click.Context,
    exercises: tuple[str, ...],
    folder: Path,
    seed: int,
    json_path: Path | None,
    every: bool,
    plain: bool,
    in_process: bool,
    debug: bool,
) -> None:
    """Grade EXERCISES, by default all of them. Each one runs in a process of its own.

    Name an exercise by its id, by the last part of the id, or by its file. Name a chapter, for all of its
    exercises, by its name or its folder. Exit status: 0 if all exercises pass, 1 if one fails or is not
    started, 2 for a wrong name or folder.
    """
    workbook = open_workbook(folder)
    chosen = exercises or tuple(PROBLEMS)
    require_exercises(workbook)
    to_stderr = json_path == STDOUT
    if json_path is not None and not to_stderr:
        require_writable(json_path.parent)
    reports = []
    for name in chosen:
        reports.append(_grade(workbook, name, seed, in_process or debug, debug))
        click.echo(report_text(reports[-1], plain=plain, every=every) + "\n", err=to_stderr)
    workbook.record({report.problem: report.points for report in reports if report.official})
    reached, total = sum(report.points for report in reports), sum(report.of for report in reports)
    solved = sum(report.status == PASSED for report in reports)
    click.echo(
        f"{solved} of {len(reports)} solved, {points_text(reached, total)} (seed {seed})", err=to_stderr
    )
    if solved == len(reports) and (following := next_text(workbook, after=chosen[-1])):
        click.echo(following, err=to_stderr)
    if missing := [name for name in chosen if not workbook.path(name).is_file()]:
        click.echo(_missing_files_text(workbook, missing), err=to_stderr)
    if protection := protection_text(reports):
        click.echo(textwrap.fill(protection, columns()), err=to_stderr)
    if json_path is not None:
        _write_json(json_path, reports)
    context.exit(0 if solved == len(reports) else 1)


def _missing_files_text(workbook: Workbook, missing: list[str]) -> str:
    counted = f"{len(missing)} files are" if len(missing) > 1 else f"{workbook.path(missing[0])} is"
    return f"{counted} missing; to write missing files, run: grpo-ref init {workbook.folder}"


def _write_json(path: Path, reports: list[Report]) -> None:
    from grpo_ref.course.rendering.report_json import as_json

    if path == STDOUT:
        click.echo(as_json(reports), nl=False)
    else:
        replace_text(path, as_json(reports))


def _grade(workbook: Workbook, name: str, seed: int, in_process: bool, debug: bool) -> Report:
    if in_process and workbook.path(name).is_file() and not grpo_ref.course.is_untouched(workbook, name):
        return _grade_here(workbook.path(name), name, seed, debug)
    with saying_what_is_graded(name):
        return grpo_ref.course.mark(workbook, name, seed=seed)


def _grade_here(path: Path, name: str, seed: int, debug: bool) -> Report:
    """Grade inside this process, with a debugger at the exception if requested."""
    from grpo_ref.course.in_process import grade_in_process, leave_if_quit, post_mortem

    on_error = post_mortem if debug else leave_if_quit
    try:
        return grade_in_process(PROBLEMS[name], path, seed=seed, on_error=on_error)
    except click.exceptions.Exit:
        raise
    except Exception as error:
        on_error("loading the file", error)
        raise click.ClickException(f"{path} cannot be loaded: {error!r}") from error
