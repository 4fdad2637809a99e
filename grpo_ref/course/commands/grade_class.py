"""`grpo-ref grade-class`: grade the submissions of a whole class."""

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

PREPARING = "preparing the sandbox (the first time, compiling it takes some minutes)"
UNSAFE = (
    "warning: the answers run in processes of this machine, not in the sandbox for strangers; no verdict is"
    " official"
)


def _required_jobs(context: click.Context, parameter: click.Parameter, jobs: int) -> int:
    """Refuse a number of processes that means nothing, before anything is written."""
    if jobs == 0 or jobs < -1:
        raise click.BadParameter(f"expected 1 or more, or -1 for one per core; got {jobs}")
    return jobs


@click.command(
    "grade-class", epilog="Example:  grpo-ref grade-class submissions.zip --out results --roster class.csv"
)
@click.argument("submissions", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Folder in which the results are written.",
)
@click.option(
    "--exercise",
    "chosen",
    type=ExerciseNames(),
    multiple=True,
    help="Count this exercise or chapter; repeat the option for several. By default all count.",
)
@click.option(
    "--roster",
    type=EXISTING,
    help="CSV file with one row per student, whose first column has the names in the submissions.",
)
@course_options
@click.option(
    "--overrides",
    type=EXISTING,
    help="Your decisions for single students; the file is copied to the results and counts from then on.",
)
@click.option("--seed", type=int, help=f"Seed of the class; by default the course file's, or {DEFAULT_SEED}.")
@click.option(
    "--jobs",
    type=int,
    callback=_required_jobs,
    default=-1,
    help="Number of students graded in parallel; -1, the default, for one per core.",
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="Grade on this Dask scheduler, as in tcp://127.0.0.1:8786."
)
@click.option(
    "--unsafe-process",
    is_flag=True,
    help="Run the answers in processes, without the sandbox, if you trust them; no verdict is official.",
)
@click.option(
    "--format",
    "formats",
    type=click.Choice(("report", "feedback", "junit", "gradescope", "nbgrader")),
    multiple=True,
    help="Also write report.html about the class, a feedback page for each student, or the format of another"
    " program; repeat the option for several.",
)
@click.option(
    "--canvas",
    "gradebook",
    type=EXISTING,
    help="Gradebook exported from Canvas; its copy canvas.csv gets the points in --column.",
)
@click.option("--column", help="Heading of the gradebook's column for the points.")
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
    """Grade the submissions of a class. SUBMISSIONS is a folder or a zip file.

    SUBMISSIONS holds a folder for each student, or files named EXERCISE_STUDENT.py, or is a download of
    Canvas, Moodle or Gradescope. Answers are .py files and notebooks. Every answer runs in WebAssembly. The
    results, one JSON file per student and marks.csv, are written as soon as they are known. After an
    interruption, the same command continues. Answers that have not changed are not graded again.
    """
    from grpo_ref.render.progress import ProgressBar

    if (gradebook is None) != (column is None):
        raise click.UsageError(
            "--canvas GRADEBOOK and --column HEADING need each other; give both or neither"
        )
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
        click.echo("\nstopped; the results so far are stored; to continue, run the same command", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except (OSError, ValueError, ImportError) as error:
        work.write_marks()
        raise click.ClickException(str(error)) from error
    work.write_marks()
    _write(work, formats)
    if gradebook is not None and column is not None:
        _fill(work, gradebook, column)
    if others := work.others():
        click.echo(f"in students/ but not in this class, left unchanged: {', '.join(others)}", err=True)
    click.echo(work.summary())


def _work(
    submissions: Path,
    out: Path,
    roster: Path | None,
    course: classroom.CourseFile,
    overrides: Path | None,
    seed: int | None,
    is_unsafe: bool,
) -> "ClassWork":
    """Return the class and its results. Mistakes in the files are reported before anything is graded."""
    from grpo_ref.course.classroom.class_work import ClassWork

    if out.resolve() == submissions.resolve():
        raise click.UsageError("--out must not be the folder of the submissions; choose another folder")
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
    """Write the requested formats beside the marks."""
    work.write_formats(name for name in dict.fromkeys(formats) if name not in ("report", "nbgrader"))
    if "nbgrader" in formats:
        work.write_nbgrader()
    if "report" in formats:
        click.echo("comparing the answers with one another for the report", err=True)
        if left := work.write_report():
            click.echo(
                f"not compared with others, because their answers could not be read: {', '.join(left)}",
                err=True,
            )


def _fillable(gradebook: Path, column: str) -> None:
    """Check that a gradebook has the column, before anything is graded."""
    from grpo_ref.course.rendering.class_formats import canvas, read_gradebook

    try:
        canvas(read_gradebook(gradebook), column, {})
    except (ValueError, OSError) as error:
        raise click.ClickException(f"{gradebook}: {error}") from error


def _fill(work: "ClassWork", gradebook: Path, column: str) -> None:
    """Fill in a gradebook, and report the students who are not in it."""
    try:
        left = work.write_canvas(gradebook, column)
    except (ValueError, OSError) as error:
        raise click.ClickException(f"{gradebook}: {error}") from error
    if left:
        click.echo(f"without a row of their own in the gradebook: {', '.join(left)}", err=True)


def _prepare(is_unsafe: bool) -> None:
    """Check that the sandbox is installed, and compile it."""
    from grpo_ref.render.progress import waiting

    if is_unsafe:
        click.echo(UNSAFE, err=True)
        return
    try:
        with waiting(PREPARING):
            classroom.prepare()
    except WasmMissing as error:
        raise click.ClickException(
            f"{error}\nIf you trust the submissions, grade without the sandbox: --unsafe-process"
        ) from error
