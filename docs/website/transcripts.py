"""Run a command while the site is built, and show its output."""

from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from grpo_ref.cli import main


def transcript(*arguments: str, files: Mapping[str, str] | None = None) -> str:
    """Return a command of `grpo-ref` with its output, as a block of a page.

    Args:
      arguments: arguments of `grpo-ref`.
      files: name -> text of the files in the folder where the command is run.

    >>> print(transcript("recipes", "no_such_recipe").splitlines()[1])
    $ grpo-ref recipes no_such_recipe
    """
    with TemporaryDirectory() as folder, chdir(folder):
        for name, text in (files or {}).items():
            Path(name).write_text(text, encoding="utf-8")
        output = CliRunner(env={"COLUMNS": "80"}).invoke(main, arguments, prog_name="grpo-ref").output
    return f"```text\n$ grpo-ref {' '.join(arguments)}\n{output.rstrip()}\n```"
