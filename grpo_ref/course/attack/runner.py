"""Run many wrong answers in one sandboxed process. The sandbox loads this file as if it were a submission.

This file imports nothing of the package, because the package is not on a sandbox's import path.
"""

import signal
import sys
import warnings
from types import FrameType
from typing import Any

import numpy as np

PRESENT: dict[str, Any] = {}
"""The wrong answer that was loaded last, and the inputs on which to try it."""


class TooSlow(BaseException):
    """A call took too long."""


def learn(inputs: list[Any], right: list[str]) -> int:
    """Store inputs, each a tuple and a dict of arguments, and the texts of their right values."""
    PRESENT["inputs"], PRESENT["right"] = inputs, right
    return len(inputs)


def begin(text: str, name: str) -> None:
    """Run a program and store its function of this name. Exceptions of the program are raised here."""
    PRESENT["function"] = None
    namespace: dict[str, Any] = {"__name__": "submission"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, "mutant", "exec"), namespace)
    PRESENT["function"] = namespace[name]


def call(*arguments: Any, **keywords: Any) -> Any:
    """Call the stored function."""
    return PRESENT["function"](*arguments, **keywords)


def outcomes(first: int, last: int, seconds: float) -> list[tuple[Any, ...]]:
    """Return the outcomes of the function on inputs first, ..., last - 1.

    Each outcome is one of these: ("same",) if the value equals the right one bit by bit; ("value", its text,
    whether an input was changed); ("raised", the exception's kinds); or ("slow",), after which no more inputs
    are tried.
    """
    found: list[tuple[Any, ...]] = []
    signal.signal(signal.SIGALRM, _ring)
    for position in range(first, last):
        arguments, keywords = PRESENT["inputs"][position]
        signal.setitimer(signal.ITIMER_REAL, seconds)
        found.append(_outcome(arguments, keywords, PRESENT["right"][position]))
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        if found[-1][0] == "slow":
            break
    return found


def _outcome(arguments: Any, keywords: Any, right: str) -> tuple[Any, ...]:
    given = _copied(arguments), _copied(keywords)
    try:
        text = sys.modules["_wire"].dumps(PRESENT["function"](*given[0], **given[1]))
        changed = not _same(given, (arguments, keywords))
        return ("same",) if text == right and not changed else ("value", text, changed)
    except TooSlow:
        return ("slow",)
    except BaseException as error:
        return "raised", [
            kind.__name__ for kind in type(error).__mro__ if kind not in (object, BaseException)
        ]


def _copied(value: Any) -> Any:
    """Return a deep copy, with arrays in the same memory order."""
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, list | tuple):
        return type(value)(map(_copied, value))
    return {name: _copied(item) for name, item in value.items()} if isinstance(value, dict) else value


def _same(left: Any, right: Any) -> bool:
    """Return whether two values are equal bit by bit."""
    if isinstance(left, np.ndarray):
        return (
            isinstance(right, np.ndarray) and left.shape == right.shape and left.tobytes() == right.tobytes()
        )
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(left[name], right[name]) for name in left)
    return left is right or left == right or (left != left and right != right)


def _ring(number: int, frame: FrameType | None) -> None:
    raise TooSlow
