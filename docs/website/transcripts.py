"""What a command says, run while the site is built."""

from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from grpo_ref.cli import main


def transcript(*arguments: str, files: Mapping[str, str] | None = None) -> str:
    """A command of `grpo-ref` with what it says, as a block of a page.

    Args:
      arguments: what is typed after `grpo-ref`.
      files: the files in the folder that it is run in, by name.

    >>> print(transcript("recipes", "no_such_recipe").splitlines()[1])
    $ grpo-ref recipes no_such_recipe
    """
    with TemporaryDirectory() as folder, chdir(folder):
        for name, text in (files or {}).items():
            Path(name).write_text(text, encoding="utf-8")
        said = CliRunner(env={"COLUMNS": "96"}).invoke(main, arguments, prog_name="grpo-ref").output
    return f"```text\n$ grpo-ref {' '.join(arguments)}\n{said.rstrip()}\n```"
