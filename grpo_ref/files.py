"""Writing files so that a reader, or a kill, sees the old content or the new one and nothing between."""

import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

import lazy_loader

subprocess = lazy_loader.load("subprocess")  # for those who ask Git

UNFINISHED = ".part"
"""Suffix of a file that is still being written."""


def replace_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file as a whole: beside its place, flushed to disk, then renamed into it.

    Args:
      path: the file; its folder exists.
      write: is given the open binary file.
    """
    beside = path.with_name(path.name + UNFINISHED)
    try:
        with beside.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        if error.errno is not None and error.filename in (None, str(beside)):
            error.filename = str(path)  # a full disk names no file
        with suppress(OSError):
            beside.unlink()
        raise


def replace_text(path: Path, text: str) -> None:
    """Write a text file as a whole, as `replace_file` does."""
    replace_file(path, lambda file: file.write(text.encode()))


def require_writable(folder: Path) -> None:
    """Make the folder if need be; raise an OSError, before any work is done, if it cannot be written to."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        error.filename = str(folder)
        raise


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it, however deep it is.

    `shutil.rmtree` recurses, and the path of a folder in thousands of folders is longer than the system
    accepts. So this function goes down and up again one folder at a time.

    Raises:
      OSError: if something cannot be removed.
    """
    if os.open not in os.supports_dir_fd:  # as on Windows
        shutil.rmtree(folder)
        return
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    here = os.open(folder, flags)
    entered: list[str] = []
    try:
        left = [_without_files(here)]  # names of the folders to remove, for each folder that was entered
        while left[-1] or entered:
            if left[-1]:
                entered.append(left[-1].pop())
                there = os.open(entered[-1], flags, dir_fd=here)
                left.append(_without_files(there))
            else:
                there = os.open("..", flags, dir_fd=here)
                os.rmdir(entered.pop(), dir_fd=there)
                left.pop()
            os.close(here)
            here = there
    finally:
        os.close(here)
    folder.rmdir()


def _without_files(folder: int) -> list[str]:
    """Remove the files directly in an open folder. Return the names of the folders in it."""
    folders = []
    for name in os.listdir(folder):
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            os.chmod(name, stat.S_IRWXU, dir_fd=folder)
            folders.append(name)
        else:
            os.unlink(name, dir_fd=folder)
    return folders


def free_name(path: Path) -> Path:
    """The path with a number before its suffix, the first that is free: notes.txt gives notes-1.txt."""
    number = 1
    while (numbered := path.with_name(f"{path.stem}-{number}{path.suffix}")).exists():
        number += 1
    return numbered


def committed_files(folder: Path) -> set[Path]:
    """The files of a folder that are as git's last commit has them; none if it is in no checkout."""
    if not folder.is_dir():
        return set()
    try:
        tracked = _git(folder, "ls-files", "-z")
        changed = _git(folder, "diff", "--name-only", "--relative", "-z", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return set()
    return {folder.resolve() / name for name in tracked - changed}


def _git(folder: Path, *arguments: str) -> set[str]:
    """Return the parts, separated by zero bytes, that a git command prints."""
    told = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True).stdout
    return set(os.fsdecode(told).split("\0")) - {""}
