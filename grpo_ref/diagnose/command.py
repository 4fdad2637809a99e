"""Implement `grpo-ref diagnose`: what happened in a training run?"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from grpo_ref.render.choices import Name

if TYPE_CHECKING:
    from grpo_ref.diagnose.diagnosis import Diagnosis
    from grpo_ref.diagnose.two_runs import Comparison
    from grpo_ref.explain.explanation import Report

SUFFIXES = (".png", ".pdf", ".svg")
HELP = """Read the log of a training run, and its launch file if there is one, and report what happened.

LOG is the folder of a run, or a file: trainer_state.json, the console output of TRL, verl and a dozen other trainers, JSON
Lines, CSV, or a notebook with its output. Several files of one run may be given, in any order; the one without metrics is the launch file.

The report begins with the start and the end of the main curves. Then it has four kinds of statements. ! The log differs
from the launch file. ! A relation between numbers does not hold: a mistake in code, data or logging, or an assumption that
is named. ~ A pattern in the curves, which is likely and not proved. = A number that looks alarming and is right. The last
lines say what was tested. Nothing is sent anywhere.

With --against LOG, two runs are compared: facts that differ, metrics that the trainers compute differently, and the step
from which on the rewards differ by more than noise.

Exit status: 0 if no relation is broken, 1 if one is broken or the log differs from the configuration, 2 if nothing could
be read.
"""


@click.command(
    "diagnose",
    help=HELP,
    epilog="Example:  grpo-ref diagnose trainer_state.json train.py   grpo-ref diagnose run.log --follow",
)
@click.argument("files", nargs=-1, required=True, metavar="LOG... [CONFIG]", type=click.Path(path_type=Path))
@click.option(
    "--config", type=click.Path(path_type=Path), help="The launch file, if the order does not tell."
)
@click.option(
    "--trainer", type=Name("trainer", lambda: _trainers()), help="The trainer, if it cannot be detected."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="The format of the output.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Show all statements with their evidence, not only the first three.",
)
@click.option(
    "--follow",
    "is_followed",
    is_flag=True,
    help="Read the log of a run in progress until Ctrl-C, and print new statements.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="LOG",
    help="The log of another run to compare with. Repeat it for several files; the last may be its launch file.",
)
@click.option(
    "--figure",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Picture of the curves to write (.png, .pdf or .svg), with the statements marked at their steps.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Page to write: the report with the curves, in one file that loads nothing.",
)
@click.pass_context
def command(
    context: click.Context,
    files: tuple[Path, ...],
    config: Path | None,
    trainer: str | None,
    form: str,
    everything: bool,
    is_followed: bool,
    against: tuple[Path, ...],
    figure: Path | None,
    html: Path | None,
) -> None:
    """See HELP."""
    if figure is not None and figure.suffix not in SUFFIXES:
        expected = f"expected a name that ends in {', '.join(SUFFIXES)}, got {figure}"
        raise click.BadParameter(expected, param_hint="--figure")
    from grpo_ref.diagnose.diagnosis import diagnosis_of, read_log
    from grpo_ref.diagnose.text import IN_FULL, data, markdown, text

    if is_followed and form != "text":
        raise click.UsageError(f"--follow prints text, so --format {form} cannot be given with it.")
    if is_followed and against:
        raise click.UsageError("--follow reads one run, so --against cannot be given with it.")

    logs, config = _divided(files) if config is None else (list(files), config)
    try:
        report = None if config is None else _explained(config)
        if is_followed:
            context.exit(_follow(logs, report, trainer or "", figure, html))
        diagnosis = diagnosis_of(read_log(logs, trainer or ""), report)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if against:
        _compare(context, diagnosis, _other(against, trainer or ""), form, figure, html)
    if form == "json":
        click.echo(json.dumps(_finite(data(diagnosis)), indent=2, default=str))
    else:
        most = None if everything else IN_FULL
        click.echo(markdown(diagnosis) if form == "markdown" else text(diagnosis, most))
    _write(diagnosis, figure, html)
    context.exit(0 if diagnosis.is_sound else 1)


def _explained(config: Path) -> "Report | None":
    """Return the explained configuration; None, with a line on the standard error, if it cannot be read."""
    from grpo_ref.explain.report import explain

    try:
        return explain(config)
    except ValueError as error:
        click.echo(f"The launch file is not used: {error}", err=True)
        return None


def _divided(files: Sequence[Path]) -> tuple[list[Path], Path | None]:
    """Return the logs, and the configuration: the only file of several that has no metrics.

    Raises:
      click.UsageError: if several files have none.
    """
    without = [path for path in files if len(files) > 1 and path.is_file() and not _has_metrics(path)]
    if len(without) > 1 and len(without) < len(files):
        names = ", ".join(map(str, without))
        raise click.UsageError(
            f"{names}: these files have no metrics, and only one of them can be the launch file."
        )
    if len(without) != 1:
        return list(files), None
    return [path for path in files if path != without[0]], without[0]


def _other(files: Sequence[Path], trainer: str) -> "Diagnosis":
    """Return the diagnosis of the run to compare with."""
    from grpo_ref.diagnose.diagnosis import diagnosis_of, read_log

    logs, config = _divided(files)
    try:
        return diagnosis_of(read_log(logs, trainer), None if config is None else _explained(config))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--against") from error


def _compare(
    context: click.Context,
    first: "Diagnosis",
    second: "Diagnosis",
    form: str,
    figure: Path | None,
    html: Path | None,
) -> NoReturn:
    """Print the comparison of two runs, write its figure and page, and end the command."""
    from grpo_ref.diagnose.comparison import data, sections, title
    from grpo_ref.diagnose.text import written_in_markdown
    from grpo_ref.diagnose.two_runs import compare

    comparison = compare(first, second)
    if form == "json":
        click.echo(json.dumps(_finite(data(comparison)), indent=2, default=str))
    elif form == "markdown":
        click.echo(written_in_markdown(title(comparison), list(sections(comparison))))
    else:
        click.echo(str(comparison))
    _write(comparison, figure, html)
    context.exit(0 if first.is_sound and second.is_sound else 1)


def _follow(
    logs: list[Path], report: "Report | None", trainer: str, figure: Path | None, html: Path | None
) -> int:
    """Print what is new in a growing log until Ctrl-C, write figure and page, and return the exit status."""
    from grpo_ref.diagnose.diagnosis import diagnosis_of, read_log
    from grpo_ref.diagnose.live import follow
    from grpo_ref.diagnose.text import block, heading

    last = None
    try:
        for diagnosis, new in follow(logs, lambda: diagnosis_of(read_log(logs, trainer), report)):
            if diagnosis is None:
                click.echo(f"waiting for metrics in {', '.join(map(str, logs))} (Ctrl-C ends)", err=True)
                continue
            if last is None:
                click.echo(f"{heading(diagnosis)}; following (Ctrl-C ends)")
            last = diagnosis
            for statement in new:
                click.echo("\n".join([f"step {diagnosis.log.rows[-1].step}:", *block(statement)]))
    except KeyboardInterrupt:
        pass
    if last is not None:
        _write(last, figure, html)
    return 2 if last is None else 0 if last.is_sound else 1


def _write(report: "Diagnosis | Comparison", figure: Path | None, html: Path | None) -> None:
    """Write the figure and the page, if they are asked for, and say so on the standard error."""
    from grpo_ref.files import replace_text

    try:
        for path in (figure, html):
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
        if figure is not None:
            from grpo_ref.plots.style import save

            save(report.plot(), figure)
            click.echo(f"wrote {figure}", err=True)
        if html is not None:
            from grpo_ref.diagnose.page import page

            replace_text(html, page(report))
            click.echo(f"wrote {html}", err=True)
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error


def _trainers() -> list[str]:
    from grpo_ref.diagnose.log import trainers

    return list(trainers())


def _has_metrics(path: Path) -> bool:
    """Return true if a file has records of metrics."""
    from grpo_ref.diagnose.diagnosis import read_log

    try:
        read_log(path)
    except ValueError:
        return False
    return True


def _finite(value: object) -> object:
    """Return data with numbers that JSON cannot hold as text."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return value if not isinstance(value, float) or value - value == 0.0 else str(value)
