"""`grpo-ref notebooks`: copy the notebooks into a folder and open Jupyter there."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import click

HERE = Path(__file__).parent
SOURCES = (HERE / "notebooks", HERE.parents[1] / "notebooks")
"""Folders of the notebooks in an installed package and in a checkout."""


@click.command("notebooks", epilog="Example:  grpo-ref notebooks lab --no-open")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default="my-notebooks")
@click.option("--open/--no-open", "opens", default=True, help="Start Jupyter in the folder.")
def command(folder: Path, opens: bool) -> None:
    """Copy the notebooks into FOLDER and open Jupyter there.

    Notebooks that are already in the folder are not changed. To get a fresh copy, rename yours first.
    """
    if opens and importlib.util.find_spec("jupyterlab") is None:
        raise click.ClickException(
            "Jupyter is not installed; install it with: pip install 'grpo-ref[notebooks]', or add --no-open"
        )
    folder.mkdir(parents=True, exist_ok=True)
    written = [path.name for path in notebooks() if _copied(path, folder / path.name)]
    click.echo(f"{folder}: {len(written)} notebooks written, {len(notebooks()) - len(written)} left alone")
    if opens:
        raise click.exceptions.Exit(subprocess.call([sys.executable, "-m", "jupyterlab", str(folder)]))


def notebooks() -> list[Path]:
    """Return the notebooks, in order."""
    return next(sorted(folder.glob("*.ipynb")) for folder in SOURCES if folder.is_dir())


def _copied(source: Path, target: Path) -> bool:
    """Copy a file unless the target exists, and return True if it was copied."""
    if target.exists():
        return False
    shutil.copyfile(source, target)
    return True
