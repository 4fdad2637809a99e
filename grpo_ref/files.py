"""Writing files so that a reader, or a kill, sees the old content or the new one and nothing between."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

UNFINISHED = ".part"
"""Suffix of a file that is still being written."""


def replace_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file as a whole: beside its place, flushed to disk, then renamed into it.

    Args:
      path: the file; its folder exists.
      write: is given the open binary file.
    """
    beside = path.with_name(path.name + UNFINISHED)
    with beside.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
