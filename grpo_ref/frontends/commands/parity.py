"""`grpo-ref parity`: do our numbers agree with what trainers computed?"""

from pathlib import Path

import click

from grpo_ref.trainers.replay import verdicts


@click.command("parity", epilog="Example:  grpo-ref parity tests/data/trainers.json")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--failures", is_flag=True, help="Show only the cases that do not agree.")
def command(file: Path, failures: bool) -> None:
    """Rebuild every recorded case of FILE from its id and parameters, and compare.

    Losses, gradients and tensors must agree to the case's relative tolerance. The format of the file is
    described in tests/data/README.md. Exit status 1 if a case does not agree.
    """
    passed, failed = 0, 0
    try:
        for verdict in verdicts(file):
            passed, failed = passed + verdict.passed, failed + (not verdict.passed)
            if not verdict.passed or not failures:
                word = (
                    click.style("PASS", fg="green")
                    if verdict.passed
                    else click.style("FAIL", fg="red", bold=True)
                )
                told = verdict.problem or f"off by {verdict.error:.1e} of {verdict.rtol:.0e}"
                click.echo(f"{word}  {verdict.id:44} {told}")
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    click.echo(f"{passed} passed, {failed} failed")
    raise click.exceptions.Exit(1 if failed or not passed else 0)
