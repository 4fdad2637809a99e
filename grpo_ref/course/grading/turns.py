"""A room that is an interpreter which takes turns: some code at a time, and what it wrote meanwhile.

It begins with what `inside.py` leaves there. Who runs the interpreter is another matter: a library beside the
judge (`wasm.py`), or a page (`web/judge.py`).
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from grpo_ref.course.grading.room import DIED, FLOOD, TIMED_OUT, TOO_MUCH, Answer, Limits

FUEL = 6 * 10**9
"""Instructions that a second stands for: about as many as are run in one where nothing else runs."""
LEAST_SECONDS = 1.0
"""A turn has the instructions of so many seconds at least."""
TO_LOAD = 2.0
"""How many times longer the loading of a file may take than a call."""


class Done(Protocol):
    """What came of a turn."""

    @property
    def exit_code(self) -> int | None:
        """0, unless the code ended with an error; None if it was ended."""

    @property
    def stdout(self) -> bytes:
        """What it wrote."""

    @property
    def stderr(self) -> bytes:
        """What it wrote of errors."""

    @property
    def trapped(self) -> str | None:
        """What ended it, if anything did."""

    @property
    def truncated(self) -> Sequence[str]:
        """Where it wrote more than is kept."""


class Interpreter(Protocol):
    """Runs code, a turn at a time."""

    @property
    def ended(self) -> str | None:
        """What ended it; None while it lives."""

    def run(self, code: str, *, deadline_s: float, fuel: int) -> Done:
        """Run some code within a time and a number of instructions."""

    def close(self) -> None:
        """End it."""


class Turns:
    """A room (see `room.Room`) for one student's file.

    Args:
      submission: the student's file.
      limits: what it may use.

    Attributes:
      patience: how many times longer everything may take, where other things run too.
    """

    patience = 2.0
    protection = "kept from other files, the network and other processes by WebAssembly"

    def __init__(self, submission: Path, limits: Limits) -> None:
        self.path, self.limits = submission.name, limits
        self.interpreter: Interpreter | None = None
        self.ending = ""

    def begin(self) -> None:
        """Make an interpreter."""
        self.end()
        self.interpreter = self.opened()

    def opened(self) -> Interpreter:
        """A new one, with what the grader has in it and no file yet."""
        raise NotImplementedError

    def wait(self) -> Answer:
        """Nothing: it is open at once."""
        return Answer()

    def load(self, source: bytes, seconds: float) -> Answer:
        """Run the file's text."""
        return self._answered(f"_load({self.path!r}, {source!r})", TO_LOAD * seconds)

    def ask(self, request: bytes, seconds: float) -> Answer:
        """Have a request answered."""
        return self._answered(f"_answer({self.path!r}, {request.decode()!r})", seconds)

    def ask_together(self, requests: Iterable[bytes], seconds: float) -> Answer:
        """Have several requests answered in one turn, which costs a millisecond."""
        lines = b" ".join(requests).decode()
        return self._answered(f"_answer_all({self.path!r}, {lines!r})", seconds)

    def last_words(self) -> str:
        """How the interpreter came to its end."""
        return self.ending

    def end(self) -> None:
        """End the interpreter."""
        if self.interpreter is not None:
            self.interpreter.close()
        self.interpreter = None

    def leave(self) -> None:
        """End it for good."""
        self.end()

    def _answered(self, code: str, seconds: float) -> Answer:
        """Run a turn; the last line that it writes is the reply, what comes before was printed."""
        done = self._turn(code, seconds)
        if done is None:
            return Answer(problem=DIED)
        printed, _, line = done.stdout.rpartition(b"\n")
        problem = self._problem(done, line)
        return Answer(b"" if problem else line, problem, done.stderr + (done.stdout if problem else printed))

    def _turn(self, code: str, seconds: float) -> Done | None:
        """What came of a turn; None if the interpreter has ended."""
        if self.interpreter is None or self.interpreter.ended is not None:
            return None
        fuel = int(max(seconds, LEAST_SECONDS) * FUEL)
        done = self.interpreter.run(code, deadline_s=self.patience * seconds, fuel=fuel)
        self.ending = f"the program ended by itself with exit status {done.exit_code}"
        if done.trapped is not None:
            self.ending = f"the interpreter was ended: {done.trapped}"
        return done

    def _problem(self, done: Done, line: bytes) -> str:
        """Why there is no reply, or ""."""
        if done.truncated or len(done.stdout) - len(line) > self.limits.output:
            return FLOOD
        if done.trapped in ("deadline", "out of fuel"):
            return TIMED_OUT
        if len(line) > self.limits.reply:
            return TOO_MUCH
        is_sound = done.trapped is None and done.exit_code == 0 and self.interpreter is not None
        return "" if is_sound and self.interpreter is not None and self.interpreter.ended is None else DIED
