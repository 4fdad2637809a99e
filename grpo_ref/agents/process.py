"""Run a `grpo-ref` command in a process that can read one folder, write nothing and take a limited time.

The parent calls `run`. The child is this module as a program: it reads the arguments from standard input,
limits itself, and runs the command. So a long or hostile file can stop a child, and never the server.
"""

import importlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

MODULES = {
    "explain": "grpo_ref.explain.commands.explain",
    "audit": "grpo_ref.explain.commands.audit",
    "convert": "grpo_ref.explain.commands.convert",
    "diagnose": "grpo_ref.diagnose.command",
}
"""The commands that can be run, each with its module."""
MOST_BYTES = 100_000_000
"""Largest size of a file that is read."""
MOST_BYTES_OF_TEXT = 2_000_000
"""Largest size of a configuration: a file with a name that ends in one of `TEXTS`, or a text."""
TEXTS = (".yaml", ".yml", ".toml", ".py", ".sh", ".bash", ".slurm", ".sbatch", ".env", ".ipynb")
MEMORY = 4 << 30
"""Address space of a child, in bytes."""
REFUSED = {
    *("os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.truncate"),
    *("os.exec", "os.fork", "os.posix_spawn", "os.system", "subprocess.Popen", "socket.connect"),
}
"""Audit events that a child refuses: changes of files, other programs and the network."""
MOST_OF_MESSAGE = 1_000
"""Largest number of characters of an error."""
BROKEN = 2
"""Smallest exit status of a command that could not run. 1 is a result, such as a log that is not sound."""


class Failed(Exception):
    """A command that could not run, with a message for its user."""


class Finished(NamedTuple):
    """The result of a command.

    Attributes:
      output: text on standard output.
      messages: text on standard error.
    """

    output: str
    messages: str


def run(arguments: Sequence[str], root: Path, timeout: float) -> Finished:
    """Run a `grpo-ref` command in a bounded process.

    Args:
      arguments: one of `MODULES`, with its arguments.
      root: the folder whose files may be read.
      timeout: seconds after which the process is stopped.

    Raises:
      Failed: if the command fails, takes too long or needs too much memory.
    """
    if arguments[0] not in MODULES:
        raise Failed(f"no command is called {arguments[0]!r}; choose one of {', '.join(MODULES)}")
    request = json.dumps({"arguments": [*arguments], "root": str(root), "seconds": math.ceil(timeout)})
    if len(request) > MOST_BYTES_OF_TEXT:
        raise Failed(f"the text is longer than {MOST_BYTES_OF_TEXT:,} characters")
    settings = {"NO_COLOR": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
    try:
        finished = subprocess.run(
            [sys.executable, "-P", "-B", "-m", "grpo_ref.agents.process"],
            input=request.encode(),
            capture_output=True,
            timeout=timeout,
            cwd=root,
            env=os.environ | settings,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"stopped after {timeout:g} seconds; a smaller file may take less") from error
    output, messages = (each.decode("utf-8", "replace") for each in (finished.stdout, finished.stderr))
    if "MemoryError" in messages:
        raise Failed(f"stopped because it needs more than {MEMORY >> 30} GiB of memory")
    if finished.returncode < 0:
        raise Failed(f"stopped by signal {-finished.returncode}, because it exceeded a limit")
    is_broken = finished.returncode >= BROKEN or not output
    if is_broken or (finished.returncode and "Error: " in messages):
        reason = messages.rpartition("Error: ")[2].strip()
        raise Failed(shortened(reason) or f"exit status {finished.returncode}")
    return Finished(output, messages)


def shortened(text: str) -> str:
    """Return a message without its middle, if the message is long because it repeats a long input.

    >>> shortened("a" * 600 + "b" * 600) == "a" * 500 + " ... " + "b" * 500
    True
    """
    return text if len(text) <= MOST_OF_MESSAGE else f"{text[:500]} ... {text[-500:]}"


class Reading:
    """An audit hook that refuses to open files outside some folders, large files, and files for writing.

    Python calls the hook at each event, such as the opening of a file. The hook raises a PermissionError or,
    if the file is too large, a ValueError. The command reports either error as it does for any unreadable
    file. The hook also refuses the events of `REFUSED`.

    Args:
      root: the folder whose files may be read.
      libraries: folders of the Python installation, which are read for imports.
    """

    def __init__(self, root: Path, libraries: Sequence[str]) -> None:
        self.root = str(root)
        self.libraries = libraries

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Check one event."""
        if event in REFUSED:
            raise PermissionError(1, "files are only read here", event)
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            self.check(os.fsdecode(arguments[0]), arguments[2])

    def check(self, name: str, flags: int) -> None:
        """Raise an error if a file may not be opened.

        Raises:
          PermissionError: if the file would be written, or is outside the folders.
          ValueError: if the file is too large.
        """
        path = os.path.realpath(name)
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise PermissionError(13, "files are only read here, not written", name)
        if not _is_inside(path, [self.root]):
            if not _is_inside(path, self.libraries):
                raise PermissionError(13, f"only files below {self.root} are read", name)
            return
        limit = MOST_BYTES_OF_TEXT if path.endswith(TEXTS) else MOST_BYTES
        if os.path.isfile(path) and os.path.getsize(path) > limit:
            raise ValueError(f"{name}: expected at most {limit:,} bytes, got {os.path.getsize(path):,}")


def _is_inside(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def limit(root: Path, seconds: int) -> None:
    """Limit this process for the rest of its life: files, time and memory.

    Args:
      root: the folder whose files may be read.
      seconds: the limit of processor time.
    """
    if sys.platform != "win32":
        import resource  # which Windows does not have

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    folders = [sys.prefix, sys.base_prefix, *filter(None, sys.path)]
    sys.addaudithook(Reading(root, [os.path.realpath(folder) for folder in folders]))


def main() -> None:
    """Read a request from standard input, limit this process, and run the command."""
    request = json.loads(sys.stdin.buffer.read())
    name, *arguments = request["arguments"]
    command: click.Command = importlib.import_module(MODULES[name]).command
    limit(Path(request["root"]), request["seconds"])
    try:
        command(arguments, prog_name=f"grpo-ref {name}")
    except OSError as error:
        named = "" if error.filename is None else f"{error.filename}: "
        click.echo(f"Error: {named}{error.strerror or error}", err=True)
        sys.exit(BROKEN)


if __name__ == "__main__":
    main()
