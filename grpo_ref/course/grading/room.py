"""Where a student's file runs: what every kind of room for it can do, and what it may use there."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

OUTPUT_LIMIT = 64 * 1024
"""Bytes of the student's printed output that are kept."""
TIMED_OUT, DIED, TOO_MUCH, FLOOD = "TimedOut", "Died", "TooMuch", "Flood"
"""Why there is no reply: the time was up, the room is gone, the reply was too long, or what was printed."""


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


class Answer(NamedTuple):
    """What came out of a room.

    Attributes:
      line: of the reply.
      problem: why there is none, or "".
      printed: what the file has printed meanwhile.
    """

    line: bytes = b""
    problem: str = ""
    printed: bytes = b""


class Room(Protocol):
    """Where one student's file runs, apart from everything.

    Attributes:
      protection: what a file in there is kept from, in words; known as soon as it is open.
    """

    protection: str

    def begin(self) -> None:
        """Start to open it, and do not wait; one that is open is closed first."""

    def wait(self) -> Answer:
        """Wait until it is open: no line, but perhaps a problem."""

    def load(self, source: bytes, seconds: float) -> Answer:
        """Have the file's text run within this time; the line tells what came of it."""

    def ask(self, request: bytes, seconds: float) -> Answer:
        """Send a line, and have the line of the reply within this time."""

    def ask_together(self, requests: Iterable[bytes], seconds: float) -> Answer | None:
        """Send several, and have the replies as a list in one line; None if that is not done here.

        They are made as they are taken, so that a room which does not take them costs nothing.
        """

    def last_words(self) -> str:
        """How it came to its end, after it has died."""

    def end(self) -> None:
        """Close it, with all that runs in there; it can be opened again."""

    def leave(self) -> None:
        """Close it for good."""
