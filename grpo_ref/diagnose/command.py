"""Implement `grpo-ref diagnose`: what happened in a training run?"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grpo_ref.render.choices import Name

if TYPE_CHECKING:
    from grpo_ref.explain.explanation import Report

HELP = """Read the log of a training run, and its launch file if there is one, and report what happened.

LOG is a file: trainer_state.json, the console output of TRL, verl, slime or ms-swift, JSON Lines, CSV, or a notebook
with its output. Several files of one run may be given; the last file is the configuration if it has no metrics.

The report has four kinds of statements. Broken relations: numbers that cannot occur together, whatever the model does, so
there is a mistake in code, data or logging. Patterns in the curves, which are not proofs. Numbers that look alarming and
are right. And what was tested, and what was not. Nothing is sent anywhere.

Exit status: 0 if no relation is broken, 1 if one is broken or the log differs from the configuration, 2 if nothing could
be read.
"""


@click.command(
    "diagnose",
    help=HELP,
    epilog="Examples:  grpo-ref diagnose trainer_state.json train.py   grpo-ref diagnose run.log --follow",
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
@click.pass_context
def command(
    context: click.Context,
    files: tuple[Path, ...],
    config: Path | None,
    trainer: str | None,
    form: str,
    everything: bool,
    is_followed: bool,
) -> None:
    """See HELP."""
    from grpo_ref.diagnose.diagnosis import diagnosis_of, read_log
    from grpo_ref.diagnose.text import IN_FULL, data, markdown, text
    from grpo_ref.explain.report import explain

    if is_followed and form != "text":
        raise click.UsageError(f"--follow prints text, so --format {form} cannot be given with it.")

    logs = list(files)
    if config is None and len(logs) > 1 and not _has_metrics(logs[-1]):
        config = logs.pop()
    try:
        report = None if config is None else explain(config)
        if is_followed:
            context.exit(_follow(logs, report, trainer or ""))
        log = read_log(logs, trainer or "")
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    diagnosis = diagnosis_of(log, report)
    if form == "json":
        click.echo(json.dumps(_finite(data(diagnosis)), indent=2, default=str))
    else:
        most = None if everything else IN_FULL
        click.echo(markdown(diagnosis) if form == "markdown" else text(diagnosis, most))
    context.exit(0 if diagnosis.is_sound else 1)


def _follow(logs: list[Path], report: "Report | None", trainer: str) -> int:
    """Print what is new in a growing log until Ctrl-C; return the exit status."""
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
    return 2 if last is None else 0 if last.is_sound else 1


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
