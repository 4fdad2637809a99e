"""How long until something happens? Fresh interpreters, against a bare one and against `import numpy`."""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from measure import heading, interleaved, spread

ROUNDS = 15
SOLVED = "kl/k3"
"""The exercise that is graded, with its model answer."""


class Action(NamedTuple):
    """What is run, and how many bare interpreters it may take at most; None: it is a yardstick."""

    command: list[str]
    target: float | None = None


def python(code: str) -> list[str]:
    """A fresh interpreter that runs some code."""
    return [sys.executable, "-c", code]


def program(*arguments: str) -> list[str]:
    """The command line, as its installed script runs it."""
    return [*python("from grpo_ref.cli import main; main()"), *arguments]


BARE, NUMPY = "bare python", "import numpy"
ACTIONS = {
    BARE: Action(python("pass")),
    NUMPY: Action(python("import numpy")),
    "import grpo_ref": Action(python("import grpo_ref"), 5),
    "grpo-ref --help": Action(program("--help"), 5),
    "grpo-ref plot --help": Action(program("plot", "--help"), 5),
    "grpo-ref list": Action(program("list"), 10),
    "grpo-ref hint": Action(program("hint", SOLVED, "--steps", "1"), 10),
    "grpo-ref recipes": Action(program("recipes"), 10),
    "grpo-ref grade": Action(program("grade", SOLVED), 23),
}
"""The targets are 75, 150 and 350 ms where a bare interpreter takes 15 ms."""


def solve_one(folder: str) -> None:
    """Write the exercises into a folder, one of them solved."""
    for arguments in (("init", "exercises"), ("solution", SOLVED, "--yes")):
        done = subprocess.run(program(*arguments), check=True, cwd=folder, capture_output=True, text=True)
    next(Path(folder).glob(f"exercises/*{SOLVED}.py")).write_text(done.stdout, encoding="utf-8")


def row(name: str, seconds: dict[str, list[float]]) -> str:
    """The time of one action, its ratio to the two yardsticks, and whether it is within its target."""
    time, target = statistics.median(seconds[name]), ACTIONS[name].target
    bare, numpy = (time / statistics.median(seconds[yardstick]) for yardstick in (BARE, NUMPY))
    verdict = "" if target is None else f"{target:4.0f}  {'reached' if bare <= target else 'missed'}"
    return f"  {name:21} {spread(seconds[name])}   {bare:5.1f}   {numpy:5.2f}   {verdict}".rstrip()


def main() -> None:
    """Time each action in turn and print a table."""
    heading(
        "start-up: median seconds [minimum, maximum], times bare python, times import numpy, target (bare)"
    )
    with tempfile.TemporaryDirectory() as folder:
        solve_one(folder)
        actions = {
            name: lambda command=action.command: subprocess.run(
                command, check=True, cwd=folder, stdout=subprocess.DEVNULL
            )
            for name, action in ACTIONS.items()
        }
        seconds = interleaved(actions, ROUNDS)
    print("\n".join(row(name, seconds) for name in ACTIONS))


if __name__ == "__main__":
    main()
