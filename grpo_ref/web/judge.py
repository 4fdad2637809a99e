"""The judge in a page: the one that grades everywhere; a student's interpreter is behind a door of the page.

It runs in an interpreter in WebAssembly itself. What it asks goes through the door as a line of JSON, and the
page hands it to another worker, which has nothing of the judge.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.room import Limits
from grpo_ref.course.grading.sandbox import Sandbox
from grpo_ref.course.grading.turns import Interpreter, Turns
from grpo_ref.course.layout import file_of
from grpo_ref.course.problems import PROBLEMS
from grpo_ref.course.rendering.report_json import exercise_json

Door = Callable[[bytes], bytes]
"""Gives the page a request; returns its answer."""


@dataclass(frozen=True)
class Told:
    """What came of a turn, as the page tells it (see `turns.Done`)."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    trapped: str | None
    truncated: tuple[str, ...]


class Behind:
    """The interpreter behind a door (see `turns.Interpreter`); a new one takes the place of the one before.

    Attributes:
      ended: what ended it, or None while it lives.
    """

    def __init__(self, door: Door, output: int) -> None:
        self.door = door
        self.ended: str | None = None
        self._ask({"do": "open", "output": output})

    def run(self, code: str, *, deadline_s: float, fuel: int) -> Told:
        """Run some code within a time; instructions are not counted."""
        head, _, stdout = self._ask({"do": "turn", "code": code, "seconds": deadline_s}).partition(b"\n")
        told = json.loads(head)
        self.ended = self.ended or told["ended"] or None
        truncated = ("stdout",) * told["truncated"]
        return Told(told["exit"], stdout, told["stderr"].encode(), told["trapped"] or None, truncated)

    def close(self) -> None:
        """End it."""
        self._ask({"do": "close"})

    def _ask(self, request: dict[str, Any]) -> bytes:
        return self.door(json.dumps(request).encode())


def graded(door: Door, name: str, text: str, seed: int) -> dict[str, Any]:
    """The report on a text, as `grade --format json` writes it for an exercise.

    Args:
      door: to the page.
      name: id of the exercise.
      text: of the student's file.
      seed: of the random inputs.
    """

    class Room(Turns):
        patience = 1.0

        def opened(self) -> Interpreter:
            return Behind(door, self.limits.output + self.limits.reply)

    path = Path(file_of(name).name)
    with Sandbox(path, Limits(), Room, text.encode(errors="surrogatepass")) as sandbox:
        return exercise_json(grade(PROBLEMS[name], sandbox, seed=seed))
