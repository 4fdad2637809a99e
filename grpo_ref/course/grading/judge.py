"""The judge: is what was returned what was asked for? Type and shape first, then finiteness, then values."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats

NUMBERS = (bool, int, float, np.generic)
SMALLEST = 1e-9
"""Absolute tolerance where every expected value is 0: rounding may leave 1e-16 divided by a small number."""


@dataclass(frozen=True)
class Difference:
    """What is wrong about a value.

    Attributes:
      kind: "type", "shape", "finite" or "value".
      text: one sentence that gives nothing of a hidden expected value away.
    """

    kind: str
    text: str


def difference(got: Any, expected: Any, rtol: float) -> Difference | None:
    """The first thing that is wrong about a value, or None.

    Numbers may be Python's or NumPy's, or arrays without axes; arrays may be nested lists. An array with axes
    where a number was asked for is wrong. Values agree if they differ by at most rtol times the largest
    expected magnitude.

    Args:
      got: what the student's function returned, as plain data.
      expected: the right answer: a number, text, None, an array, or a tuple or dict of these.
      rtol: relative tolerance.
    """
    if isinstance(expected, tuple):
        return _sequence(got, expected, rtol)
    if isinstance(expected, dict):
        return _mapping(got, expected, rtol)
    if expected is None or isinstance(expected, str):
        same = expected is got if expected is None else isinstance(got, str) and got == expected
        return None if same else _not("value", got, describe(expected))
    if isinstance(expected, NUMBERS) or np.ndim(expected) == 0:
        if not isinstance(got, NUMBERS) and not (isinstance(got, np.ndarray) and got.ndim == 0):
            return _not("type", got, "a number")
        return _values(np.asarray(got), np.asarray(expected), rtol)
    return _array(got, np.asarray(expected), rtol)


def agree(got: Any, expected: Any, rtol: float) -> bool:
    """Whether a value is right."""
    return difference(got, expected, rtol) is None


def describe(value: Any) -> str:
    """What kind of value it is, in words, with its shape but without its content."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    if isinstance(value, bool | np.bool_):
        return "a truth value"
    if isinstance(value, NUMBERS):
        return "a number"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    return (
        "nothing (None): is a return missing?" if value is None else f"a value of type {type(value).__name__}"
    )


def _not(kind: str, got: Any, expected: str) -> Difference:
    return Difference(kind, f"expected {expected}, got {describe(got)}")


def _sequence(got: Any, expected: tuple[Any, ...], rtol: float) -> Difference | None:
    if not isinstance(got, tuple | list) or len(got) != len(expected):
        return _not("type", got, f"{len(expected)} values")
    for position, (ours, theirs) in enumerate(zip(got, expected, strict=True), start=1):
        if found := difference(ours, theirs, rtol):
            return Difference(found.kind, f"value {position} of {len(expected)}: {found.text}")
    return None


def _mapping(got: Any, expected: dict[str, Any], rtol: float) -> Difference | None:
    if not isinstance(got, dict) or set(got) != set(expected):
        names = ", ".join(sorted(map(repr, expected)))
        return _not("type", got, f"a dict with the keys {names}")
    for name, theirs in expected.items():
        if found := difference(got[name], theirs, rtol):
            return Difference(found.kind, f"[{name!r}]: {found.text}")
    return None


def _array(got: Any, expected: Any, rtol: float) -> Difference | None:
    if isinstance(got, list | tuple):
        try:
            got = np.asarray(got)
        except ValueError:
            return Difference("shape", f"expected shape {expected.shape}, got lists of unequal lengths")
    if not isinstance(got, np.ndarray):
        return _not("type", got, f"an array of shape {expected.shape}")
    if got.shape != expected.shape:
        return Difference("shape", f"expected shape {expected.shape}, got shape {got.shape}")
    return _values(got, expected, rtol)


def _values(got: Any, expected: Any, rtol: float) -> Difference | None:
    if got.dtype.kind not in "biuf":
        return Difference("type", f"expected real numbers, got dtype {got.dtype}")
    if expected.dtype.kind == "b" and got.dtype.kind != "b":
        return Difference("type", f"expected truth values (dtype bool), got dtype {got.dtype}")
    ours, theirs = got.astype(np.float64), expected.astype(np.float64)
    special = ~np.isfinite(theirs)
    strange = (~np.isfinite(ours) & ~special) | (special & ~_same_special(ours, theirs))
    if strange.any():
        return Difference("finite", _at(ours, strange, "not the right kind of number (NaN or infinite)"))
    bound = rtol * np.abs(theirs[~special]).max(initial=0.0) or SMALLEST
    errors = np.abs(np.subtract(ours, theirs, where=~special, out=np.zeros_like(theirs)))
    wrong = ~(errors <= bound)
    if not wrong.any():
        return None
    first = tuple(np.argwhere(wrong)[0])
    direction = "too large" if ours[first] > theirs[first] else "too small"
    share = f"{wrong.sum()} of {wrong.size} wrong, the first" if wrong.size > 1 else "it"
    return Difference("value", _at(ours, wrong, f"{share} {direction}"))


def _same_special(ours: Floats, theirs: Floats) -> Any:
    return (np.isnan(ours) & np.isnan(theirs)) | (ours == theirs)


def _at(values: Floats, bad: Any, what: str) -> str:
    if values.ndim == 0:
        return f"{what}: {float(values)!r}"
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{what}: {float(values[first])!r} at index {list(first)}"
