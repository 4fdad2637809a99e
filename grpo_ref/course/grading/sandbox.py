"""The judge's side of a sandbox: it loads the student's file, calls its functions, and closes the sandbox if
the file misbehaves.

The kind of sandbox decides what the file is kept from: a process of this machine (`process.py`) or a
WebAssembly interpreter (`wasm.py`). This module keeps the time: after a call that takes too long, it closes
the sandbox, and the next call opens a new one.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from grpo_ref.course import grading
from grpo_ref.course.grading.limits import Limits
from grpo_ref.course.grading.process import Process
from grpo_ref.course.grading.sandbox_interface import (
    DIED,
    FLOOD,
    OUTPUT_LIMIT,
    TIMED_OUT,
    TOO_MUCH,
    Answer,
    SandboxBackend,
)

if TYPE_CHECKING:
    from grpo_ref.course.grading.problem import Calls

LONGEST_TEXT, MOST_TEXTS = 2000, 20
"""Largest number of characters of an error's message that are kept, and of lines or warnings."""
PROBLEMS = {TOO_MUCH: "the returned value is too large", FLOOD: "too much was printed; print less"}
NO_REPLY = "the process sent something that is not a reply"
MakeBackend = Callable[[Path, Limits], SandboxBackend]


@dataclass(frozen=True)
class Reply:
    """The reply to one call.

    Attributes:
      ok: whether the function returned.
      value: the returned value.
      inputs: the positional and keyword arguments after the call; None if nothing changed them.
      kinds: names of the exception's type and its bases; or "TimedOut", "Died", "NotData".
      message: the exception's message.
      lines: the student's lines that led to the exception, outermost first.
      warnings: warnings of NumPy or Python.
    """

    ok: bool
    value: Any = None
    inputs: Any = None
    kinds: tuple[str, ...] = ()
    message: str = ""
    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Sandbox:
    """One student's file in a sandbox of its own. Use it in a `with` statement.

    Args:
      submission: the file.
      limits: limits on time, memory and output.
      make_room: makes the sandbox, such as `Process`.
      text: text of the file, if `submission` is only a name; if omitted, the file is read each time it is
        loaded.
    """

    def __init__(
        self,
        submission: Path,
        limits: Limits | None = None,
        make_room: MakeBackend = Process,
        text: bytes | None = None,
    ) -> None:
        self.submission, self.limits, self.text = submission.resolve(), limits or Limits(), text
        self.backend = make_room(self.submission, self.limits)
        self.is_open = self.is_starting = False
        self.output, self.seconds, self.left = b"", self.limits.seconds, self.limits.total
        self.received = self.values = 0

    @property
    def protection(self) -> str:
        """Description of what the file is kept from."""
        return self.backend.protection

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.backend.leave()

    def start(self) -> None:
        """Begin to open a sandbox and do not wait for it.

        The first time, most of this is the import of NumPy. The judge can import NumPy for itself in the same
        time.
        """
        self.backend.begin()
        self.is_open, self.is_starting = False, True

    def load(self) -> Reply:
        """Load the file. The reply holds the names of all callables in it.

        The sandbox that was opened last is used, or a new one if a file has already been loaded there.
        """
        if not self.is_starting:
            self.start()
        self.is_starting, self.is_open = False, True
        seconds = min(self.limits.start_seconds, self.left)
        answer = self._heard(self.backend.wait())
        if not answer.problem:
            answer = self._timed(self.backend.load, self._source(), seconds)
        reply = self._reply(answer, f"loading the file took more than {seconds:.2g} s")
        if not reply.ok:
            self._end()
        return reply

    def call(self, function: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Reply:
        """Call a function of the file. If the sandbox was closed, a new one is opened first."""
        if self.left <= 0.0:
            return Reply(
                False, kinds=(TIMED_OUT,), message="not tried: the time for this exercise is used up"
            )
        if self._is_full():
            return Reply(False, kinds=(DIED,), message=PROBLEMS[TOO_MUCH])
        if not self.is_open:
            loaded = self.load()
            if not loaded.ok:
                return loaded
        seconds = min(self.seconds, self.left)
        answer = self._timed(self.backend.ask, grading.wire.request(function, arguments, keywords), seconds)
        return self._reply(answer, f"no answer after {seconds:.2g} s")

    def call_together(self, function: str, calls: "Calls") -> list[Reply]:
        """Make several calls within the time of one. Return no replies if that is not possible; then call one
        by one.

        No replies are returned either if something was printed, since it is unknown which call printed it.
        """
        if self.left <= 0.0 or not self.is_open or self._is_full():
            return []
        requests = (grading.wire.request(function, arguments, keywords) for arguments, keywords in calls)
        begun = time.monotonic()
        answer = self.backend.ask_together(requests, min(self.seconds, self.left))
        self.left -= time.monotonic() - begun
        if answer is None or (answer.printed and not answer.problem):
            return []
        try:
            replies = [] if answer.problem else list(map(_as_reply, self._decoded(answer.line)))
        except (ValueError, KeyError, TypeError):
            replies = []
        if len(replies) != len(calls):
            self._end()
            return []
        return replies

    def allow(self, seconds: float) -> None:
        """Set the wall-clock time of each following call, in seconds."""
        self.limits = replace(self.limits, seconds=seconds)
        self.seconds = seconds

    def printed(self) -> str:
        """Return what the file has printed so far, at most 64 KiB."""
        text = self.output[:OUTPUT_LIMIT].decode(errors="replace")
        return text + "\n... (more was printed)" if len(self.output) > OUTPUT_LIMIT else text

    def _source(self) -> bytes:
        return self.submission.read_bytes() if self.text is None else self.text

    def _timed(self, ask: Callable[[bytes, float], Answer], request: bytes, seconds: float) -> Answer:
        """Send a request and charge its time to the exercise."""
        begun = time.monotonic()
        answer = self._heard(ask(request, min(seconds, self.left)))
        self.left -= time.monotonic() - begun
        if answer.problem == TIMED_OUT:
            self.left = min(self.left, self.limits.rest)
            self.seconds = min(self.seconds, self.limits.impatient_seconds)
        return answer

    def _heard(self, answer: Answer) -> Answer:
        """Keep the printed output of an answer, and return the answer."""
        self.output = (self.output + answer.printed)[: OUTPUT_LIMIT + 1]
        return answer

    def _reply(self, answer: Answer, too_long: str) -> Reply:
        """Return the reply, or the reason why it is missing. In the second case the sandbox is closed."""
        if not answer.problem:
            try:
                return _as_reply(self._decoded(answer.line))
            except (ValueError, KeyError, TypeError):
                self._end()
                message = PROBLEMS[TOO_MUCH] if self._is_full() else NO_REPLY
                return Reply(False, kinds=(DIED,), message=message)
        if answer.problem == TIMED_OUT:
            self._end()
            return Reply(False, kinds=(TIMED_OUT,), message=too_long)
        message = PROBLEMS.get(answer.problem) or self.backend.last_words()
        self._end()
        return Reply(False, kinds=(DIED,), message=message)

    def _decoded(self, line: bytes) -> Any:
        """Return the data of a line, if all lines so far are within the limits on size and number.

        Each value but the first follows a comma or an opening bracket, so these are counted before anything
        is decoded.

        Raises:
          ValueError: if the line is beyond the limits, or is not a reply.
        """
        self.received += len(line)
        self.values += sum(map(line.count, (b",", b"[", b"{")))
        if self._is_full():
            raise ValueError(PROBLEMS[TOO_MUCH])
        return grading.wire.loads(line.decode())

    def _is_full(self) -> bool:
        return self.received > self.limits.received or self.values > self.limits.values

    def _end(self) -> None:
        self.backend.end()
        self.is_open = self.is_starting = False


def _as_reply(data: Any) -> Reply:
    """Convert the data of a line to a reply.

    Raises:
      ValueError, KeyError or TypeError: if the data are not a reply.
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
    """Return the first texts, shortened, without characters that a file or a terminal cannot show."""
    return tuple(
        str(text)[:LONGEST_TEXT].encode(errors="backslashreplace").decode() for text in texts[:MOST_TEXTS]
    )
