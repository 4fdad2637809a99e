"""`grpo-ref grade-class`: grade what a whole class handed in."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grpo_ref.course import classroom
from grpo_ref.course.commands.course_options import EXISTING, chosen_course, course_options
from grpo_ref.course.commands.exercise import ExerciseNames
from grpo_ref.course.grading.report import DEFAULT_SEED
from grpo_ref.course.grading.wasm import WasmMissing
from grpo_ref.render.output import INTERRUPTED, plain_option

if TYPE_CHECKING:
    from grpo_ref.course.classroom.class_work import ClassWork

PREPARING = "preparing the sandbox (compiled the first time: some minutes)"
UNSAFE = (
    "warning: the answers run in processes of this machine, not in the sandbox for strangers; no verdict is"
    " official"
)


@click.command(
    "grade-class", epilog="Example:  grpo-ref grade-class submissions.zip --out results --roster class.csv"
)
@click.argument("submissions", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder for the results."
)
@click.option(
    "--exercise",
    "chosen",
    type=ExerciseNames(),
    multiple=True,
    help="An exercise or a chapter that counts; several times for several. By default all count.",
)
@click.option(
    "--roster",
    type=EXISTING,
    help="CSV file with a row for each student; the first column names them as the submissions do.",
)
@course_options
@click.option(
    "--overrides",
    type=EXISTING,
    help="What you decided for single students; it is kept beside the results and counts from then on.",
)
@click.option(
    "--seed", type=int, help=f"Of the class; by default that of the course file, or {DEFAULT_SEED}."
)
@click.option("--jobs", type=int, default=-1, help="Students at a time; -1, the default, for one per core.")
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler, as in tcp://127.0.0.1:8786.")
@click.option(
    "--unsafe-process",
    is_flag=True,
    help="Run the answers in processes, for submissions that you trust; no verdict is official.",
)
@click.option(
    "--format",
    "formats",
    type=click.Choice(("report", "feedback", "junit", "gradescope", "nbgrader")),
    multiple=True,
    help="Also write this: report.html about the class, a feedback page for each student, or a format of"
    " another program; several times for several.",
)
@click.option(
    "--canvas",
    "gradebook",
    type=EXISTING,
    help="Gradebook that Canvas exported; canvas.csv is the same with --column filled in.",
)
@click.option("--column", help="Heading of the gradebook's column for these points.")
@plain_option
def command(
    submissions: Path,
    out: Path,
    chosen: tuple[tuple[str, ...], ...],
    roster: Path | None,
    course_file: Path | None,
    assignments: tuple[str, ...],
    overrides: Path | None,
    seed: int | None,
    jobs: int,
    scheduler: str | None,
    unsafe_process: bool,
    formats: tuple[str, ...],
    gradebook: Path | None,
    column: str | None,
    plain: bool,
) -> None:
    """Grade what a class handed in: SUBMISSIONS is a folder or a zip file.

    It holds a folder for each student, or files named EXERCISE_STUDENT.py, or is a download of Canvas, Moodle
    or Gradescope; answers are .py files and notebooks. Every answer runs in WebAssembly. The results are
    written as they come, one JSON file a student and marks.csv; after an interruption the same command goes
    on, and what has not changed is not graded again.
    """
    from grpo_ref.render.progress import ProgressBar

    if (gradebook is None) != (column is None):
        raise click.UsageError("--canvas GRADEBOOK and --column HEADING go together")
    course = chosen_course(course_file, chosen, assignments)
    if gradebook is not None and column is not None:
        _fillable(gradebook, column)
    _prepare(unsafe_process)
    work = _work(submissions, out, roster, course, overrides, seed, unsafe_process)
    left = list(work.left())
    already = len(work.students) - len(left)
    click.echo(f"{work.counted}, {already} of them graded before (seed {work.seed})", err=True)
    try:
        with ProgressBar("students", "student", len(work.students), start=already) as bar:
            for done, graded in enumerate(work.graded(left, jobs, scheduler), start=already + 1):
                bar.show(done, f"{graded['student']} {graded['points']:g}/{graded['of']:g}")
    except KeyboardInterrupt:
        work.write_marks()
        click.echo("\nstopped; what is done is stored, continue with the same command", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except (OSError, ValueError, ImportError) as error:
        raise click.ClickException(str(error)) from error
    work.write_marks()
    _write(work, formats)
    if gradebook is not None and column is not None:
        _fill(work, gradebook, column)
    if others := work.others():
        click.echo(f"of nobody in this class, left alone in students/: {', '.join(others)}", err=True)
    click.echo(work.told())


def _work(
    submissions: Path,
    out: Path,
    roster: Path | None,
    course: classroom.CourseFile,
    overrides: Path | None,
    seed: int | None,
    is_unsafe: bool,
) -> "ClassWork":
    """What there is to do; a mistake in any of the files is told before anything is graded."""
    from grpo_ref.course.classroom.class_work import ClassWork

    own = next(each for each in (seed, course.seed, DEFAULT_SEED) if each is not None)
    try:
        work = ClassWork.of(submissions, out, roster, course, seed=own, is_safe=not is_unsafe)
        decided = work.decide(overrides)
    except (classroom.Unreadable, ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error
    if decided:
        click.echo(f"overrides: {decided}, kept in {work.results.folder / 'overrides.toml'}", err=True)
    return work


def _write(work: "ClassWork", formats: tuple[str, ...]) -> None:
    """Write what was asked for beside the marks."""
    work.write_formats(name for name in dict.fromkeys(formats) if name not in ("report", "nbgrader"))
    if "nbgrader" in formats:
        work.write_nbgrader()
    if "report" in formats:
        click.echo("comparing the answers with one another for the report", err=True)
        work.write_report()


def _fillable(gradebook: Path, column: str) -> None:
    """See that a gradebook has the column, before anything is graded."""
    from grpo_ref.course.rendering.class_formats import canvas, read_gradebook

    try:
        canvas(read_gradebook(gradebook), column, {})
    except (ValueError, OSError) as error:
        raise click.ClickException(f"{gradebook}: {error}") from error


def _fill(work: "ClassWork", gradebook: Path, column: str) -> None:
    """Fill in a gradebook, and say who is not in it."""
    try:
        left = work.write_canvas(gradebook, column)
    except (ValueError, OSError) as error:
        raise click.ClickException(f"{gradebook}: {error}") from error
    if left:
        click.echo(f"not in the gradebook: {', '.join(left)}", err=True)


def _prepare(is_unsafe: bool) -> None:
    """See that the sandbox is there, and have it compiled."""
    from grpo_ref.render.progress import waiting

    if is_unsafe:
        click.echo(UNSAFE, err=True)
        return
    try:
        with waiting(PREPARING):
            classroom.prepare()
    except WasmMissing as error:
        raise click.ClickException(
            f"{error}\n--unsafe-process grades without it, if you trust them"
        ) from error
