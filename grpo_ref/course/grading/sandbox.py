"""The judge's side of the sandbox: has the student's file loaded in a process of its own, asks it for values,
ends it when it misbehaves.

The process is forked from one that has imported NumPy and nothing of anybody's. Its import path is the
standard library and a folder of links to NumPy and SciPy; the package, the solutions and the checks are not
on it. Where the system allows it, it reads no other file, writes only in its own folder, and reaches neither
the network nor other processes; what was allowed is said. Time is kept here: a call that takes too long gets
its process killed, and the next call starts a new one. To grade strangers, put a container or a machine of
their own around it all the same.
"""

import json
import os
import selectors
import shutil
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from grpo_ref.course import grading
from grpo_ref.course.grading import nursery

OUTPUT_LIMIT = 64 * 1024
"""Bytes of the student's printed output that are kept."""
LONGEST_TEXT, MOST_TEXTS = 2000, 20
"""Characters of an error's message that are kept; how many lines and warnings."""
CHUNK = 1 << 16
PROBLEMS = {"TooMuch": "it returned too much", "Flood": "it printed too much"}


@dataclass(frozen=True)
class Limits:
    """What one call may use.

    Attributes:
      seconds: wall-clock time of one call.
      impatient_seconds: the same for the calls after one that took too long.
      rest: what is left for all calls together after one that took too long.
      total: wall-clock time of all calls together.
      start_seconds: wall-clock time to load the file.
      memory: bytes of address space of the process.
      reply: bytes of one reply.
      output: bytes that may be printed in one call.
    """

    seconds: float = 5.0
    impatient_seconds: float = 1.0
    rest: float = 1.5
    total: float = 15.0
    start_seconds: float = 7.0
    memory: int = 4 * 1024**3
    reply: int = 16 * 1024**2
    output: int = 16 * 1024**2


@dataclass(frozen=True)
class Reply:
    """What the process answered to one call.

    Attributes:
      ok: whether the function returned.
      value: what it returned.
      inputs: the positional and keyword arguments as they are after the call; None if nothing changed them.
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
    """One student's file in a process of its own; use it in a `with` statement.

    Attributes:
      protection: what the process was kept from, in words.
    """

    def __init__(self, submission: Path, limits: Limits | None = None) -> None:
        self.submission, self.limits = submission.resolve(), limits or Limits()
        self.nursery: nursery.Nursery | None = None
        self.pipes: Pipes | None = None
        self.starting = False
        self.output, self.seconds, self.left = b"", self.limits.seconds, self.limits.total
        self.protection = ""

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="grpo-ref-")).resolve()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        if self.nursery is not None:
            nursery.give_back(self.nursery)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start a process that loads the file, and do not wait for it.

        The first time, most of its start is the import of NumPy, which the judge's process can spend on its
        own.
        """
        self._stop()
        self.pipes = Pipes(self.limits)
        try:
            self.nursery = self.nursery or nursery.take()
            self.nursery.begin(*self.pipes.theirs)
        except nursery.NurseryError:
            self._bury()
            self.nursery = nursery.Nursery()
            self.nursery.begin(*self.pipes.theirs)
        self.pipes.pass_on()
        self.starting = True

    def load(self) -> Reply:
        """Wait until a process has loaded the file; the reply holds the names of what can be called in it.

        It is the process that was started last, or a new one if that one has been waited for already.
        """
        if not self.starting:
            self.start()
        self.starting = False
        seconds = self.limits.start_seconds
        line, problem = self._converse(self._settings(), nursery.PATIENCE)
        if not problem:
            self.protection = str(json.loads(line))
            source = self.submission.read_bytes().decode("latin-1")
            line, problem = self._timed((json.dumps(source) + "\n").encode(), seconds)
        reply = self._reply(line, problem, f"loading the file took more than {seconds:g} s")
        if not reply.ok:
            self._stop()
        return reply

    def call(self, function: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Reply:
        """Call a function of the file; a process that died before is replaced first."""
        if self.left <= 0.0:
            return Reply(
                False, kinds=("TimedOut",), message="not tried: the time for this exercise is used up"
            )
        if self.pipes is None or self.starting:
            loaded = self.load()
            if not loaded.ok:
                return loaded
        request = {"function": function, "arguments": list(arguments), "keywords": dict(keywords)}
        seconds = min(self.seconds, self.left)
        line, problem = self._timed((grading.wire.dumps(request) + "\n").encode(), seconds)
        return self._reply(line, problem, f"no answer after {seconds:.2g} s")

    def allow(self, seconds: float) -> None:
        """Give each call so much wall-clock time from now on."""
        self.limits = replace(self.limits, seconds=seconds)
        self.seconds = seconds

    def printed(self) -> str:
        """What the file has printed so far, at most 64 KiB of it."""
        text = self.output[:OUTPUT_LIMIT].decode(errors="replace")
        return text + "\n... (more was printed)" if len(self.output) > OUTPUT_LIMIT else text

    def _settings(self) -> bytes:
        """The first line that the process reads."""
        work = self.folder / "work"
        work.mkdir(exist_ok=True)
        settings = {"work": str(work), "memory": self.limits.memory, "submission": str(self.submission)}
        return (json.dumps(settings) + "\n").encode()

    def _timed(self, request: bytes, seconds: float) -> tuple[bytes, str]:
        """Converse, at the expense of the time that the exercise has."""
        begun = time.monotonic()
        line, problem = self._converse(request, min(seconds, self.left))
        self.left -= time.monotonic() - begun
        if problem == "TimedOut":
            self.left = min(self.left, self.limits.rest)
            self.seconds = min(self.seconds, self.limits.impatient_seconds)
        return line, problem

    def _reply(self, line: bytes, problem: str, too_long: str) -> Reply:
        """The reply that came, or why there is none; then the process is gone."""
        if not problem:
            try:
                return _as_reply(grading.wire.loads(line.decode()))
            except (ValueError, KeyError, TypeError):
                self._stop()
                return Reply(False, kinds=("Died",), message="it answered something that is no reply")
        if problem == "TimedOut":
            self._stop()
            return Reply(False, kinds=("TimedOut",), message=too_long)
        message = PROBLEMS.get(problem) or self._last_words()
        self._stop()
        return Reply(False, kinds=("Died",), message=message)

    def _converse(self, request: bytes, seconds: float) -> tuple[bytes, str]:
        """Send a line; the next line of the replies, and what went wrong. Output is collected meanwhile."""
        if self.pipes is None:
            raise RuntimeError("no process was started")
        line, problem = self.pipes.converse(request, seconds)
        self.output = (self.output + self.pipes.printed)[: OUTPUT_LIMIT + 1]
        return line, problem

    def _last_words(self) -> str:
        """How the process ended."""
        status = self._end(dying=True)
        if status is None:
            return "the process closed its channel to the judge"
        if os.WIFSIGNALED(status):
            return f"the process was ended by {signal.Signals(os.WTERMSIG(status)).name}"
        return f"the process ended by itself with exit status {os.WEXITSTATUS(status)}"

    def _stop(self) -> None:
        if self.pipes is None:
            return
        self.pipes.close()
        self.pipes = None
        self._end(dying=False)

    def _end(self, *, dying: bool) -> int | None:
        """End the process, and learn how it ended; where nothing shields the nursery, it may be gone too."""
        try:
            return self.nursery.end(dying=dying) if self.nursery is not None else None
        except nursery.NurseryError:
            self._bury()
            return None

    def _bury(self) -> None:
        if self.nursery is not None:
            self.nursery.close()
        self.nursery = None


class Pipes:
    """Three pipes to a process: requests to it, replies and output from it.

    Attributes:
      theirs: the ends of the process, in this order.
      printed: what it has printed in the last exchange.
    """

    def __init__(self, limits: Limits) -> None:
        (child, self.requests), (self.replies, answers), (self.prints, prints) = (
            os.pipe(),
            os.pipe(),
            os.pipe(),
        )
        self.theirs, self.limits = [child, answers, prints], limits
        os.set_blocking(self.requests, False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.replies, selectors.EVENT_READ, self._hear)
        self.selector.register(self.prints, selectors.EVENT_READ, self._print)
        self.printed = bytearray()

    def pass_on(self) -> None:
        """Close their ends here; the process has its own copies."""
        while self.theirs:
            os.close(self.theirs.pop())

    def close(self) -> None:
        """Close all that is left."""
        self.pass_on()
        self.selector.close()
        for descriptor in (self.requests, self.replies, self.prints):
            os.close(descriptor)

    def converse(self, request: bytes, seconds: float) -> tuple[bytes, str]:
        """Send a line, take in what is printed, and return the line of reply with what went wrong.

        That is "" if nothing did, else "TimedOut", "Died", "TooMuch" for a reply, or "Flood" for output.
        """
        self.request, self.reply, self.printed, self.flood = memoryview(request), bytearray(), bytearray(), 0
        self.finished, self.problem = False, ""
        self._send()
        if self.request:
            self.selector.register(self.requests, selectors.EVENT_WRITE, self._send_rest)
        deadline = time.monotonic() + seconds
        while not self.finished and (left := deadline - time.monotonic()) > 0:
            for key, _ in self.selector.select(left):
                key.data()
        if self.request and not self.problem:  # it answered before it was asked
            self.problem = "Died"
        return bytes(self.reply), self.problem if self.finished else "TimedOut"

    def _send(self) -> None:
        """As much as the pipe takes."""
        try:
            self.request = self.request[os.write(self.requests, self.request) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._finish("Died")

    def _send_rest(self) -> None:
        self._send()
        if not self.request or self.finished:
            self.selector.unregister(self.requests)

    def _hear(self) -> None:
        chunk = os.read(self.replies, CHUNK)
        self.reply += chunk
        if not chunk:
            self._finish("Died")
        elif len(self.reply) > self.limits.reply:
            self._finish("TooMuch")
        elif chunk.endswith(b"\n"):
            self._finish("")

    def _print(self) -> None:
        chunk = os.read(self.prints, CHUNK)
        self.flood += len(chunk)
        if len(self.printed) <= OUTPUT_LIMIT:
            self.printed += chunk
        if not chunk:
            self.selector.unregister(self.prints)
        elif self.flood > self.limits.output:
            self._finish("Flood")

    def _finish(self, problem: str) -> None:
        self.finished, self.problem = True, problem


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
    value, inputs = data["value"]
    if inputs is not None:
        arguments, keywords = inputs
        inputs = list(arguments), dict(keywords)
    return Reply(True, value, inputs, warnings=warnings)


def _texts(texts: Any) -> tuple[str, ...]:
    """The first of them, shortened, without characters that cannot be written to a file or a terminal."""
    return tuple(
        str(text)[:LONGEST_TEXT].encode(errors="backslashreplace").decode() for text in texts[:MOST_TEXTS]
    )
