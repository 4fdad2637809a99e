"""The judge in a page: the same judge as everywhere, with the student's interpreter in another worker.

The judge itself runs in a WebAssembly interpreter. It sends each request as a line of JSON to the page, and
the page passes the request to another worker, which has nothing of the judge.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.limits import Limits
from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.grading.sandbox import Sandbox
from grpo_ref.course.grading.turns import Interpreter, Turns
from grpo_ref.course.layout import file_of
from grpo_ref.course.rendering.report_json import exercise_json

Channel = Callable[[bytes], bytes]
"""Sends a request to the page and returns the answer."""
SCIPY = "scipy"
"""Package for which a page would load many megabytes before the verdict on a wrong answer."""


@dataclass(frozen=True)
class TurnResult:
    """The result of a turn, as the page reports it (see `turns.Done`)."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    trapped: str | None
    truncated: tuple[str, ...]


class RemoteInterpreter:
    """The student's interpreter, reached through the page (see `turns.Interpreter`). A new one replaces the
    previous one.

    Attributes:
      ended: the reason why it ended, or None while it runs.
    """

    def __init__(self, channel: Channel, output: int) -> None:
        self.channel = channel
        self.ended: str | None = None
        self._ask({"do": "open", "output": output})

    def run(self, code: str, *, deadline_s: float, fuel: int) -> TurnResult:
        """Run some code within a time limit. Instructions are not counted."""
        head, _, stdout = self._ask({"do": "turn", "code": code, "seconds": deadline_s}).partition(b"\n")
        data = json.loads(head)
        self.ended = self.ended or data["ended"] or None
        truncated = ("stdout",) * data["truncated"]
        return TurnResult(data["exit"], stdout, data["stderr"].encode(), data["trapped"] or None, truncated)

    def close(self) -> None:
        """End the interpreter."""
        self._ask({"do": "close"})

    def _ask(self, request: dict[str, Any]) -> bytes:
        return self.channel(json.dumps(request).encode())


def graded(channel: Channel, name: str, text: str, seed: int) -> dict[str, Any]:
    """Return the report on a text, in the form that `grade --json` writes for an exercise.

    Args:
      channel: channel to the page.
      name: id of the exercise.
      text: text of the student's file.
      seed: seed of the random inputs.
    """

    class Backend(Turns):
        patience = 1.0

        def opened(self) -> Interpreter:
            return RemoteInterpreter(channel, self.limits.output + self.limits.reply)

    path = Path(file_of(name).name)
    with Sandbox(path, Limits(), Backend, text.encode(errors="surrogatepass")) as sandbox:
        problem = PROBLEMS[name] if SCIPY in text else without_scipy(PROBLEMS[name])
        return exercise_json(grade(problem, sandbox, seed=seed))


def without_scipy(problem: Problem) -> Problem:
    """Return a problem without the right answers that need SciPy.

    After a wrong answer, the judge compares right answers in many styles, to be sure that an input is fit to
    judge by. If the answer does not use SciPy, a page compares only the styles that need nothing but NumPy.
    """

    def right_answers() -> dict[str, str]:
        texts = problem.right_answers().items()
        return {name: text for name, text in texts if SCIPY not in text}

    return replace(problem, right_answers=right_answers)
