"""The interface of the sandboxes in which a student's file runs, and their limits."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

OUTPUT_LIMIT = 64 * 1024
"""Bytes of the student's printed output that are kept."""
TIMED_OUT, DIED, TOO_MUCH, FLOOD = "TimedOut", "Died", "TooMuch", "Flood"
"""Reasons for a missing reply: the time was up, the sandbox ended, the reply was too long, or too much was
printed.
"""


class Answer(NamedTuple):
    """A sandbox's answer to one request.

    Attributes:
      line: the line of the reply.
      problem: reason why the reply is missing, or "".
      printed: output that the file printed meanwhile.
    """

    line: bytes = b""
    problem: str = ""
    printed: bytes = b""


class SandboxBackend(Protocol):
    """A sandbox in which one student's file runs, isolated from everything else.

    Attributes:
      protection: description of what the file is kept from; known as soon as the sandbox is open.
    """

    protection: str

    def begin(self) -> None:
        """Start to open the sandbox and do not wait for it. A sandbox that is open is closed first."""

    def wait(self) -> Answer:
        """Wait until the sandbox is open. The answer has no line, but may have a problem."""

    def load(self, source: bytes, seconds: float) -> Answer:
        """Run the file's text within this time. The line of the answer reports the result."""

    def ask(self, request: bytes, seconds: float) -> Answer:
        """Send a line and return the line of the reply, within this time."""

    def ask_together(self, requests: Iterable[bytes], seconds: float) -> Answer | None:
        """Send several requests and return the replies as a list in one line; None if the sandbox does not
        support this.

        The requests are computed only when the sandbox takes them.
        """

    def last_words(self) -> str:
        """Describe how the sandbox ended. Call it only after the sandbox has died."""

    def end(self) -> None:
        """Close the sandbox with everything that runs in it. It can be opened again."""

    def leave(self) -> None:
        """Close the sandbox for good."""
