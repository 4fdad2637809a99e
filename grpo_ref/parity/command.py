"""`grpo-ref parity`: compare grpo_ref's numbers with those that trainers computed, or compute now."""

import importlib.util
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grpo_ref.render.output import columns, plain_option

if TYPE_CHECKING:
    from grpo_ref.parity.replay import Verdict

LIVE = ("trl", "verl", "openrlhf", "open_instruct", "rlinf", "skyrl", "slime", "prime_rl")
"""Trainers that --live can run: the whole of TRL and verl, and the loss functions of the others."""


@click.command("parity", epilog="Example:  grpo-ref parity --failures")
@click.argument("file", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--failures", is_flag=True, help="Show only the cases that do not agree.")
@click.option("--live", "trainer", type=click.Choice(LIVE), help="Run the trainer that is installed.")
@click.option(
    "--python",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="With --live: the interpreter of the environment that has the trainer. Default: this one.",
)
@click.option(
    "--source",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="With --live: a checkout of the trainer, in place of the installed package.",
)
@click.option(
    "--release",
    default="",
    help="With --live: the release to ask explain about, if a checkout states another one or none.",
)
@click.option("--case", "patterns", multiple=True, help="With --live: only cases that fit, such as 'dapo_*'.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=1.0),
    default=900.0,
    show_default=True,
    help="With --live: seconds that the trainer may take.",
)
@click.option(
    "--json",
    "output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --live: write the verdicts to this file.",
)
@plain_option
def command(
    file: Path | None,
    failures: bool,
    trainer: str | None,
    python: Path | None,
    source: Path | None,
    release: str,
    patterns: tuple[str, ...],
    timeout: float,
    output: Path | None,
    plain: bool,
) -> None:
    """Rebuild recorded cases from their configurations, and compare with what the trainers computed.

    Without FILE these are all cases of the package grpo-conformance. Losses, gradients, tensors and metrics
    must agree to the relative tolerance of the case. The format of a FILE of your own is described in
    conformance/RECORDINGS.md. Exit status 1 if a case does not agree or there is none, 2 if FILE is of
    another format.

    With --live, the code of an installed trainer or of a checkout runs on a CPU. Its environment does not need
    grpo-ref. TRL and verl compute the gradients of a few hundred configurations (minutes). Each gradient is
    compared with what `explain` says of that version, and with the paper's form of the algorithm. Of the other
    trainers, the loss functions run on the recorded inputs (seconds). Their results are compared with those of
    the recorded version and with grpo_ref. They need PyTorch and NumPy; other packages that are missing are replaced by
    empty modules, which are named. Exit status 0 if all cases agree or are explained, 1 if not, 2 if nothing
    could be run:

      grpo-ref parity --live trl --python other/bin/python --case 'dapo_*'
      grpo-ref parity --live openrlhf --source OpenRLHF --failures
    """
    if importlib.util.find_spec("grpo_conformance") is None:
        raise click.ClickException("the recorded numbers are not installed: pip install 'grpo-ref[parity]'")
    if trainer is not None:
        if file is not None:
            raise click.UsageError("FILE and --live exclude each other")
        from grpo_ref.parity.live.command import live

        options: dict[str, Any] = {"python": python, "source": source, "release": release}
        status = live(trainer, **options, patterns=patterns, timeout=timeout, failures=failures, file=output)
        raise click.exceptions.Exit(status)
    if python or source or release or patterns or output:
        raise click.UsageError("--python, --source, --release, --case and --json need --live")
    from grpo_ref.parity.replay import shipped, verdicts

    files = [file] if file else shipped()
    try:
        told = list(_told(chain.from_iterable(map(verdicts, files)), failures, plain))
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    for trainer, (passed, failed) in _counted(told).items():
        click.echo(f"{trainer if plain else format(trainer, '20')} {passed} passed, {failed} failed")
    passed = sum(verdict.passed for verdict in told)
    click.echo(f"{passed} passed, {len(told) - passed} failed")
    raise click.exceptions.Exit(0 if told and passed == len(told) else 1)


def _told(found: Iterable["Verdict"], failures: bool, plain: bool) -> Iterator["Verdict"]:
    """Yield the verdicts, and show each one as soon as it is there."""
    for verdict in found:
        if not (verdict.passed and failures):
            click.echo(_line(verdict, plain))
        yield verdict


def _line(verdict: "Verdict", plain: bool) -> str:
    found = verdict.problem or f"off by {verdict.error:.1e} of {verdict.rtol:.0e}"
    if plain:
        return f"{verdict.id} {'passed' if verdict.passed else 'failed'}: {found}."
    word = click.style("PASS", fg="green") if verdict.passed else click.style("FAIL", fg="red", bold=True)
    width = max(0, min(44, columns() - len("PASS   off by 1.0e-08 of 1e-06")))
    return f"{word}  {verdict.id:{width}} {found}"


def _counted(told: list["Verdict"]) -> dict[str, tuple[int, int]]:
    """Count the cases of each trainer that passed and failed."""
    every = Counter(verdict.trainer for verdict in told)
    good = Counter(verdict.trainer for verdict in told if verdict.passed)
    return {trainer: (good[trainer], every[trainer] - good[trainer]) for trainer in every}
