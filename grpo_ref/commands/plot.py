"""`grpo-ref plot`: draw the training dynamics of run folders."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from grpo_ref.learning.runs import RunFolder

SUFFIXES = (".png", ".pdf", ".svg")


@click.command("plot", epilog="Example:  grpo-ref plot runs/names-grpo runs/names-dapo --out compared.png")
@click.argument("runs", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Picture to write (.png, .pdf or .svg).  [default: dynamics.png in the first run's folder]",
)
def command(runs: tuple[Path, ...], out: Path | None) -> None:
    """Draw reward, KL, entropy, gradient norm, length, groups with equal rewards, clipping and diversity.

    Each RUN is a folder written by `grpo-ref train`. Lines are means over seeds; bands show the 10th to the
    90th percentile of the seeds. If runs kept different metrics, only those that all runs have are drawn.
    """
    from grpo_ref.learning.runs import RunError  # NumPy and matplotlib, which --help does not need
    from grpo_ref.plots import plot_dynamics

    path = runs[0] / "dynamics.png" if out is None else out
    if path.suffix not in SUFFIXES:
        raise click.BadParameter(
            f"expected a name that ends in {', '.join(SUFFIXES)}, got {path}", param_hint="--out"
        )
    try:
        histories = {label: folder.history() for label, folder in _labelled(runs).items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        plot_dynamics(histories, path)
    except (RunError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"wrote {path}")


def _labelled(runs: tuple[Path, ...]) -> dict[str, "RunFolder"]:
    """Return the run folders by their shortest distinct names, and check that each one can be read."""
    from grpo_ref.learning.runs import RunFolder

    folders = [RunFolder(path) for path in dict.fromkeys(runs)]
    for folder in folders:
        folder.config()
    names = [folder.path.resolve().name for folder in folders]
    distinct = len(set(names)) == len(names)
    return {
        name if distinct else str(folder.path): folder for name, folder in zip(names, folders, strict=True)
    }
