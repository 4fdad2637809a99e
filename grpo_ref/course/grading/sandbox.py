"""The judge's side of the sandbox: starts the student's process, asks it for values, ends it when it
misbehaves.

The child is a fresh Python without site-packages. Its import path is the standard library and a folder of
links to NumPy and SciPy; the package, the solutions and the checks are not on it. Time is kept here: a call
that takes too long gets its process killed, and the next call starts a new one. This protects practice
against honest accidents and simple tricks; to grade strangers, put a container or a machine of their own
around it.
"""

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from grpo_ref.course import grading

LIBRARIES = ("numpy", "scipy")
HERE = Path(__file__).parent
OUTPUT_LIMIT = 64 * 1024
"""Bytes of the student's printed output that are kept."""
LONGEST_TEXT, MOST_TEXTS = 2000, 20
"""Characters of an error's message that are kept; how many lines and warnings."""


@dataclass(frozen=True)
class Limits:
    """What one call may use.

    Attributes:
      seconds: wall-clock time of one call.
      impatient_seconds: the same for the calls after one that took too long.
      start_seconds: wall-clock time to start the process and load the file.
      memory: bytes of address space of the process.
      reply: bytes of one reply.
    """

    seconds: float = 5.0
    impatient_seconds: float = 1.0
    start_seconds: float = 20.0
    memory: int = 4 * 1024**3
    reply: int = 16 * 1024**2


@dataclass(frozen=True)
class Reply:
    """What the process answered to one call.

    Attributes:
      ok: whether the function returned.
      value: what it returned.
      inputs: the positional and keyword arguments as they are after the call.
      kinds: names of the exception's type and its bases; or "TimedOut", "Died", "NotData".
      message: what it said.
      lines: the student's lines that led to it, outermost first.
      warnings: what NumPy or Python warned of.
    """

    ok: bool
    value: Any = None
    inputs: Any = None
    kinds: tuple[str, ...] = ()
    message: str = ""
    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Sandbox:
    """One student's file in a process of its own; use it in a `with` statement."""

    def __init__(self, submission: Path, limits: Limits | None = None) -> None:
        self.submission, self.limits = submission.resolve(), limits or Limits()
        self.process: subprocess.Popen[bytes] | None = None
        self.starting = False
        self.output, self.seconds = b"", self.limits.seconds

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="grpo-ref-"))
        libraries = self.folder / "libraries"
        libraries.mkdir()
        for name in LIBRARIES:
            _link(name, libraries)
        (self.folder / "work").mkdir()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start a process that loads the file, and do not wait for it.

        Most of its start is the import of NumPy, which the judge's process can spend on its own.
        """
        self._stop()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", str(HERE / "child.py"), self._settings()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder / "work",
            env=_environment(),
            start_new_session=True,
        )
        self.starting = True

    def load(self) -> Reply:
        """Wait until a process has loaded the file; the reply says whether that went well.

        It is the one that was started last, or a new one if that one has been waited for already.
        """
        if not self.starting:
            self.start()
        self.starting = False
        reply = self._receive(
            self.limits.start_seconds, f"loading the file took more than {self.limits.start_seconds:g} s"
        )
        if not reply.ok:
            self._stop()
        return reply

    def call(self, function: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Reply:
        """Call a function of the file; a process that died before is replaced first."""
        if self.process is None or self.process.poll() is not None:
            loaded = self.load()
            if not loaded.ok:
                return loaded
        request = {"function": function, "arguments": list(arguments), "keywords": dict(keywords)}
        try:
            self._send((grading.wire.dumps(request) + "\n").encode())
        except BrokenPipeError:
            self._stop()
            return Reply(ok=False, kinds=("Died",), message="the process ended")
        reply = self._receive(self.seconds, f"no answer after {self.seconds:g} s")
        if "TimedOut" in reply.kinds:
            self.seconds = min(self.seconds, self.limits.impatient_seconds)
        return reply

    def allow(self, seconds: float) -> None:
        """Give each call so much wall-clock time from now on."""
        self.limits = replace(self.limits, seconds=seconds)
        self.seconds = seconds

    def printed(self) -> str:
        """What the file has printed so far, at most 64 KiB of it."""
        text = self.output[:OUTPUT_LIMIT].decode(errors="replace")
        return text + "\n... (more was printed)" if len(self.output) > OUTPUT_LIMIT else text

    def _settings(self) -> str:
        settings = {
            "path": [str(self.folder / "libraries")],
            "memory": self.limits.memory,
            "wire": str(HERE / "wire.py"),
            "submission": str(self.submission),
            "judge": os.getpid(),
        }
        return json.dumps(settings)

    def _receive(self, seconds: float, too_long: str) -> Reply:
        """The next line of the child, its output collected meanwhile; or why there is none."""
        line, problem = self._read_line(time.monotonic() + seconds)
        if problem == "TimedOut":
            self._stop()
            return Reply(ok=False, kinds=("TimedOut",), message=too_long)
        if problem:
            message = "it sent too much" if problem == "TooMuch" else self._last_words()
            self._stop()
            return Reply(ok=False, kinds=("Died",), message=message)
        try:
            return _as_reply(grading.wire.loads(line.decode()))
        except (ValueError, KeyError, TypeError):
            self._stop()
            return Reply(ok=False, kinds=("Died",), message="the process answered something that is no reply")

    def _send(self, line: bytes) -> None:
        stream = _running(self.process).stdin
        if stream is not None:
            stream.write(line)
            stream.flush()

    def _read_line(self, deadline: float) -> tuple[bytearray, str]:
        """The next line of the replies, or as much of it as there is, and what went wrong."""
        process, received = _running(self.process), bytearray()
        with selectors.DefaultSelector() as selector:
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    selector.register(stream, selectors.EVENT_READ)
            while (left := deadline - time.monotonic()) > 0:
                for key, _ in selector.select(left):
                    chunk = os.read(key.fd, 1 << 16)
                    if key.fileobj is process.stdout:
                        received += chunk
                        if not chunk or len(received) > self.limits.reply:
                            return received, "TooMuch" if chunk else "Died"
                    elif chunk:
                        self.output = (self.output + chunk)[: OUTPUT_LIMIT + 1]
                    else:
                        selector.unregister(key.fileobj)
                if received.endswith(b"\n"):
                    return received, ""
        return received, "TimedOut"

    def _last_words(self) -> str:
        try:
            status = _running(self.process).wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return "the process closed its channel to the judge"
        if status < 0:
            return f"the process was ended by {signal.Signals(-status).name}"
        return f"the process ended by itself with exit status {status}"

    def _stop(self) -> None:
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(BrokenPipeError):
                if stream is not None:
                    stream.close()
        self.process = None


def _as_reply(data: Any) -> Reply:
    """The reply that a line tells of.

    Raises:
      ValueError, KeyError or TypeError: if it is none.
    """
    warnings = _texts(data["warnings"])
    if data["ok"] is not True:
        (message,) = _texts([data["message"]])
        return Reply(
            False,
            kinds=_texts(data["kinds"]),
            message=message,
            lines=_texts(data["lines"]),
            warnings=warnings,
        )
    value, (arguments, keywords) = data["value"]
    return Reply(True, value, (list(arguments), dict(keywords)), warnings=warnings)


def _texts(texts: Any) -> tuple[str, ...]:
    """The first of them, shortened, without characters that cannot be written to a file or a terminal."""
    return tuple(
        str(text)[:LONGEST_TEXT].encode(errors="backslashreplace").decode() for text in texts[:MOST_TEXTS]
    )


def _running(process: subprocess.Popen[bytes] | None) -> subprocess.Popen[bytes]:
    if process is None:
        raise RuntimeError("no process was started")
    return process


def _link(name: str, folder: Path) -> None:
    """Make one library importable from the folder, with the shared objects that wheels keep beside it."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{name} is not installed, but students may import it")
    package = Path(spec.origin).parent
    for path in (package, package.with_name(name + ".libs")):
        if path.exists():
            (folder / path.name).symlink_to(path, target_is_directory=True)


def _environment() -> dict[str, str]:
    """Nothing of the judge's environment; one thread, so that a class can be graded side by side."""
    return {"PATH": os.defpath, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
