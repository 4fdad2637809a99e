"""Find what of this repository rests on a function of a trainer: recorded cases and statements of `explain`."""

import json
from collections import Counter
from collections.abc import Iterable
from functools import cache

from grpo_conformance import RECORDINGS

from grpo_ref.explain.dialects import DIALECTS

PART_OF_CALL = (
    ("penalt", "penalty"),
    ("correction", "correction"),
    ("kept", "filter"),
    ("admitted completions", "filter"),
    ("advantages", "advantages"),
    ("rewards", "rewards"),
)
"""A text in the name of a call, and the part of the objective that the call records; all others record the loss."""
PARTS_OF_PART = {
    "settings": ("rewards", "advantages", "filter", "correction", "penalty", "loss"),
    "rewards": ("rewards", "advantages"),
    "penalty": ("penalty", "loss"),
    "correction": ("correction", "loss"),
}
"""The parts of the recorded calls that rest on a part of the source; of the others only the part itself."""


def part_of(call: str) -> str:
    """Return the part of the objective that a recorded call is about."""
    return next((part for text, part in PART_OF_CALL if text in call), "loss")


@cache
def calls(trainer: str) -> Counter[str]:
    """Count the recorded cases of a trainer by their call."""
    counted: Counter[str] = Counter()
    for path in (RECORDINGS / f"{trainer}.json", RECORDINGS / "by_hand" / f"{trainer}.json"):
        if path.is_file():
            cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
            counted.update(case["call"] for case in cases)
    return counted


def recorded_cases(trainer: str, part: str) -> dict[str, int]:
    """Count the recorded cases that rest on a part of the source, by their call."""
    parts = PARTS_OF_PART.get(part, (part,))
    return {call: number for call, number in calls(trainer).items() if part_of(call) in parts}


def statements(trainer: str, functions: Iterable[tuple[str, frozenset[str]]]) -> list[str]:
    """Return the names of the traps of `explain` that rest on changed functions.

    Args:
      trainer: the dialect.
      functions: the last part of the name of each function, and the names in its code. A trap rests on a function if
        its source names the function.
    """
    names = {name.rpartition(".")[2] for name, _ in functions} - {"__init__", "forward", "the file"}
    return [trap.name for trap in DIALECTS[trainer].traps if any(name in trap.source for name in names)]


def keys(trainer: str, functions: Iterable[tuple[str, frozenset[str]]]) -> list[str]:
    """Return the keys of the trainer that the changed functions name."""
    names = frozenset[str]().union(*(names for _, names in functions))
    return sorted(key for key in DIALECTS[trainer].keys.table if key.rpartition(".")[2] in names)
