"""A sandbox that is a process of this machine.

The process is forked from one that has imported NumPy and nothing that a student wrote. Its import path is
the standard library and a folder of links to NumPy and SciPy; the package, the solutions and the checks are
not on it. If the system allows it, the process reads no other file, writes only in its own folder, and
reaches neither the network nor other processes. The report states how far this protection goes. Use this
sandbox for a student's own work; to grade strangers there is WebAssembly.
"""

import contextlib
import json
import os
import selectors
import signal
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from grpo_ref.course.grading import fork_server
from grpo_ref.course.grading.limits import Limits
from grpo_ref.course.grading.sandbox_interface import DIED, FLOOD, OUTPUT_LIMIT, TIMED_OUT, TOO_MUCH, Answer
from grpo_ref.files import remove_folder

CHUNK = 1 << 16


class Process:
    """A sandbox (see `sandbox_interface.SandboxBackend`) that is a process."""

    def __init__(self, submission: Path, limits: Limits) -> None:
        self.submission, self.limits = submission, limits
        self.folder: Path | None = None
        self.server: fork_server.ForkServer | None = None
        self.pipes: Pipes | None = None
        self.protection = ""

    def begin(self) -> None:
        """Fork a process. Do not wait for it."""
        self.end()
        self.pipes = Pipes(self.limits)
        try:
            self.server = self.server or fork_server.take()
            self.server.begin(*self.pipes.theirs)
        except fork_server.ForkServerError:
            self._bury()
            self.server = fork_server.ForkServer()
            self.server.begin(*self.pipes.theirs)
        self.pipes.pass_on()

    def wait(self) -> Answer:
        """Wait until the process has confined itself. The file is not charged for this time."""
        answer = self.ask(self._settings(), fork_server.PATIENCE)
        if answer.problem:
            return answer
        self.protection = str(json.loads(answer.line))
        return Answer(printed=answer.printed)

    def load(self, source: bytes, seconds: float) -> Answer:
        """Run the file's text within this time."""
        return self.ask(json.dumps(source.decode("latin-1")).encode(), seconds)

    def ask(self, request: bytes, seconds: float) -> Answer:
        """Send a line and return the line of the reply, within this time."""
        if self.pipes is None:
            raise RuntimeError("no process was started")
        return self.pipes.converse(request + b"\n", seconds)

    def ask_together(self, requests: Iterable[bytes], seconds: float) -> None:
        """Do nothing: a message to a process costs little, so that calls need not be sent together."""

    def last_words(self) -> str:
        """Describe how the process ended."""
        status = self._ended(dying=True)
        if status is None:
            return "the process closed its channel to the judge"
        if os.WIFSIGNALED(status):
            return f"the process was ended by {signal.Signals(os.WTERMSIG(status)).name}"
        return f"the process ended by itself with exit status {os.WEXITSTATUS(status)}"

    def end(self) -> None:
        """End the process with everything that it started."""
        if self.pipes is None:
            return
        self.pipes.close()
        self.pipes = None
        self._ended(dying=False)

    def leave(self) -> None:
        """End the process. The server becomes free for another sandbox."""
        self.end()
        if self.server is not None:
            fork_server.give_back(self.server)
        if self.folder is not None:
            with contextlib.suppress(OSError):
                remove_folder(self.folder)

    def _settings(self) -> bytes:
        """Return the first line that the process reads."""
        self.folder = self.folder or Path(tempfile.mkdtemp(prefix="grpo-ref-")).resolve()
        work = self.folder / "work"
        work.mkdir(exist_ok=True)
        settings = {"work": str(work), "memory": self.limits.memory, "submission": str(self.submission)}
        return json.dumps(settings).encode()

    def _ended(self, *, dying: bool) -> int | None:
        """End the process and return its status.

        If nothing protects the server from the file, the server may have ended too.
        """
        try:
            return self.server.end(dying=dying) if self.server is not None else None
        except fork_server.ForkServerError:
            self._bury()
            return None

    def _bury(self) -> None:
        if self.server is not None:
            self.server.close()
        self.server = None


class Pipes:
    """Three pipes to a process: one for requests to it, one for its replies and one for its output.

    Attributes:
      theirs: the process's ends of the pipes, in this order.
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
        """Close the process's ends here. The process has its own copies."""
        while self.theirs:
            os.close(self.theirs.pop())

    def close(self) -> None:
        """Close everything that is still open."""
        self.pass_on()
        self.selector.close()
        for descriptor in (self.requests, self.replies, self.prints):
            os.close(descriptor)

    def converse(self, request: bytes, seconds: float) -> Answer:
        """Send a line, collect the printed output, and return the line of the reply, or the reason why it is
        missing.
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
            self.problem = DIED
        return Answer(bytes(self.reply), self.problem if self.finished else TIMED_OUT, bytes(self.printed))

    def _send(self) -> None:
        """Send as much as the pipe accepts."""
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
