"""A process of this machine as the room in which a student's file runs.

The process is forked from one that has imported NumPy and nothing of anybody's. Its import path is the
standard library and a folder of links to NumPy and SciPy; the package, the solutions and the checks are not
on it. Where the system allows it, it reads no other file, writes only in its own folder, and reaches neither
the network nor other processes; what was allowed is said. This is for a student's own work: to grade
strangers there is WebAssembly.
"""

import json
import os
import selectors
import shutil
import signal
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from grpo_ref.course.grading import nursery
from grpo_ref.course.grading.room import (
    DIED,
    FLOOD,
    OUTPUT_LIMIT,
    TIMED_OUT,
    TOO_MUCH,
    Answer,
    Limits,
)

CHUNK = 1 << 16


class Process:
    """A room (see `room.Room`) that is a process."""

    def __init__(self, submission: Path, limits: Limits) -> None:
        self.submission, self.limits = submission, limits
        self.folder: Path | None = None
        self.nursery: nursery.Nursery | None = None
        self.pipes: Pipes | None = None
        self.protection = ""

    def begin(self) -> None:
        """Fork a process, and do not wait for it."""
        self.end()
        self.pipes = Pipes(self.limits)
        try:
            self.nursery = self.nursery or nursery.take()
            self.nursery.begin(*self.pipes.theirs)
        except nursery.NurseryError:
            self._bury()
            self.nursery = nursery.Nursery()
            self.nursery.begin(*self.pipes.theirs)
        self.pipes.pass_on()

    def wait(self) -> Answer:
        """Wait until it is shut in; the time that this takes is not the file's."""
        answer = self.ask(self._settings(), nursery.PATIENCE)
        if answer.problem:
            return answer
        self.protection = str(json.loads(answer.line))
        return Answer(printed=answer.printed)

    def load(self, source: bytes, seconds: float) -> Answer:
        """Have the file's text run within this time."""
        return self.ask(json.dumps(source.decode("latin-1")).encode(), seconds)

    def ask(self, request: bytes, seconds: float) -> Answer:
        """Send a line, and have the line of the reply within this time."""
        if self.pipes is None:
            raise RuntimeError("no process was started")
        return self.pipes.converse(request + b"\n", seconds)

    def ask_together(self, requests: Iterable[bytes], seconds: float) -> None:
        """A message to a process costs little."""

    def last_words(self) -> str:
        """How the process ended."""
        status = self._ended(dying=True)
        if status is None:
            return "the process closed its channel to the judge"
        if os.WIFSIGNALED(status):
            return f"the process was ended by {signal.Signals(os.WTERMSIG(status)).name}"
        return f"the process ended by itself with exit status {os.WEXITSTATUS(status)}"

    def end(self) -> None:
        """End the process with all that it started."""
        if self.pipes is None:
            return
        self.pipes.close()
        self.pipes = None
        self._ended(dying=False)

    def leave(self) -> None:
        """End it; the nursery may serve another."""
        self.end()
        if self.nursery is not None:
            nursery.give_back(self.nursery)
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _settings(self) -> bytes:
        """The first line that the process reads."""
        self.folder = self.folder or Path(tempfile.mkdtemp(prefix="grpo-ref-")).resolve()
        work = self.folder / "work"
        work.mkdir(exist_ok=True)
        settings = {"work": str(work), "memory": self.limits.memory, "submission": str(self.submission)}
        return json.dumps(settings).encode()

    def _ended(self, *, dying: bool) -> int | None:
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

    def converse(self, request: bytes, seconds: float) -> Answer:
        """Send a line, take in what is printed, and return the line of the reply with what went wrong."""
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
            self.problem = DIED
        return Answer(bytes(self.reply), self.problem if self.finished else TIMED_OUT, bytes(self.printed))

    def _send(self) -> None:
        """As much as the pipe takes."""
        try:
            self.request = self.request[os.write(self.requests, self.request) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._finish(DIED)

    def _send_rest(self) -> None:
        self._send()
        if not self.request or self.finished:
            self.selector.unregister(self.requests)

    def _hear(self) -> None:
        chunk = os.read(self.replies, CHUNK)
        self.reply += chunk
        if not chunk:
            self._finish(DIED)
        elif len(self.reply) > self.limits.reply:
            self._finish(TOO_MUCH)
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
            self._finish(FLOOD)

    def _finish(self, problem: str) -> None:
        self.finished, self.problem = True, problem
