"""A sandbox that is an interpreter which runs code in turns: each turn runs some code and collects its
output.

The interpreter starts with the functions of `inside.py`. Two classes provide the interpreter: a library
beside the judge (`wasm.py`) or a web page (`web/judge.py`).
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from grpo_ref.course.grading.limits import Limits
from grpo_ref.course.grading.sandbox_interface import DIED, FLOOD, TIMED_OUT, TOO_MUCH, Answer

FUEL = 6 * 10**9
"""Instructions that count as one second: about as many as run in one second on an idle machine."""
LEAST_SECONDS = 1.0
"""A turn gets the instructions of at least this many seconds."""
TO_LOAD = 2.0
"""Factor by which loading a file may take longer than a call."""


class Done(Protocol):
    """The result of one turn."""

    @property
    def exit_code(self) -> int | None:
        """The exit code: 0, or another number after an error; None if the code was stopped."""

    @property
    def stdout(self) -> bytes:
        """The standard output of the turn."""

    @property
    def stderr(self) -> bytes:
        """The error output of the turn."""

    @property
    def trapped(self) -> str | None:
        """The reason why the code was stopped, or None."""

    @property
    def truncated(self) -> Sequence[str]:
        """Names of the streams whose output was cut because it was too long."""


class Interpreter(Protocol):
    """An interpreter that runs code, one turn at a time."""

    @property
    def ended(self) -> str | None:
        """The reason why the interpreter ended, or None while it runs."""

    def run(self, code: str, *, deadline_s: float, fuel: int) -> Done:
        """Run some code within a time limit and a number of instructions."""

    def close(self) -> None:
        """End the interpreter."""


class Turns:
    """A sandbox (see `sandbox_interface.SandboxBackend`) for one student's file.

    Args:
      submission: the student's file.
      limits: limits on time, memory and output.

    Attributes:
      patience: factor by which everything may take longer, for machines that run other programs too.
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
        """Return a new interpreter that has run the grader's code but has no student's file yet."""
        raise NotImplementedError

    def wait(self) -> Answer:
        """Do nothing: the interpreter is open at once."""
        return Answer()

    def load(self, source: bytes, seconds: float) -> Answer:
        """Run the file's text."""
        return self._answered(f"_load({self.path!r}, {source!r})", TO_LOAD * seconds)

    def ask(self, request: bytes, seconds: float) -> Answer:
        """Answer one request."""
        return self._answered(f"_answer({self.path!r}, {request.decode()!r})", seconds)

    def ask_together(self, requests: Iterable[bytes], seconds: float) -> Answer:
        """Answer several requests in one turn, because each turn costs a millisecond."""
        lines = b" ".join(requests).decode()
        return self._answered(f"_answer_all({self.path!r}, {lines!r})", seconds)

    def last_words(self) -> str:
        """Describe how the interpreter ended."""
        return self.ending

    def end(self) -> None:
        """End the interpreter."""
        if self.interpreter is not None:
            self.interpreter.close()
        self.interpreter = None

    def leave(self) -> None:
        """End the interpreter for good."""
        self.end()

    def _answered(self, code: str, seconds: float) -> Answer:
        """Run a turn. The last line that it writes is the reply; everything before was printed by the
        student's code.
        """
        done = self._turn(code, seconds)
        if done is None:
            return Answer(problem=DIED)
        printed, _, line = done.stdout.rpartition(b"\n")
        problem = self._problem(done, line)
        return Answer(b"" if problem else line, problem, done.stderr + (done.stdout if problem else printed))

    def _turn(self, code: str, seconds: float) -> Done | None:
        """Return the result of a turn, or None if the interpreter has ended."""
        if self.interpreter is None or self.interpreter.ended is not None:
            return None
        fuel = int(max(seconds, LEAST_SECONDS) * FUEL)
        done = self.interpreter.run(code, deadline_s=self.patience * seconds, fuel=fuel)
        self.ending = f"the program ended by itself with exit status {done.exit_code}"
        if done.trapped is not None:
            self.ending = f"the interpreter was ended: {done.trapped}"
        return done

    def _problem(self, done: Done, line: bytes) -> str:
        """Return the reason why there is no reply, or ""."""
        if done.truncated or len(done.stdout) - len(line) > self.limits.output:
            return FLOOD
        if done.trapped in ("deadline", "out of fuel"):
            return TIMED_OUT
        if len(line) > self.limits.reply:
            return TOO_MUCH
        is_sound = done.trapped is None and done.exit_code == 0 and self.interpreter is not None
        return "" if is_sound and self.interpreter is not None and self.interpreter.ended is None else DIED
