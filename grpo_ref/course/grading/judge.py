"""The judge: compare a returned value with the right one. Type and shape come first, then finiteness, then
values.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats

NUMBERS = (bool, int, float, np.generic)
SMALLEST = 1e-9
"""Absolute tolerance if every expected value is 0: rounding may leave 1e-16 divided by a small number."""

LONGEST_TEXT = 60


@dataclass(frozen=True)
class Difference:
    """One difference between a value and the right one.

    Attributes:
      kind: "type", "shape", "finite" or "value".
      text: one sentence that reveals nothing of a hidden expected value.
    """

    kind: str
    text: str


TOO_LARGE = Difference("value", "got a whole number that is too large for a float")


def difference(got: Any, expected: Any, rtol: float) -> Difference | None:
    """Return the first difference between a value and the right one, or None.

    Numbers may be Python's or NumPy's, or arrays without axes; arrays may be nested lists. An array with axes
    is wrong if a number is expected. Values agree if they differ by at most rtol times the largest expected
    magnitude.

    Args:
      got: the value that the student's function returned, as plain data.
      expected: the right value: a number, text, None, an array, or a tuple or dict of these.
      rtol: relative tolerance.
    """
    if isinstance(expected, tuple):
        return _sequence(got, expected, rtol)
    if isinstance(expected, dict):
        return _mapping(got, expected, rtol)
    if expected is None:
        return None if got is None else _not("type", got, "None")
    if isinstance(expected, str):
        return _text(got, expected)
    if isinstance(expected, NUMBERS) or np.ndim(expected) == 0:
        return _number(got, expected, rtol)
    return _array(got, np.asarray(expected), rtol)


def agree(got: Any, expected: Any, rtol: float) -> bool:
    """Return whether a value is right."""
    return difference(got, expected, rtol) is None


def describe(value: Any) -> str:
    """Describe a value's type and shape without its content."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    if isinstance(value, bool | np.bool_):
        return "a truth value"
    if isinstance(value, NUMBERS):
        return "a number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, tuple | list | dict):
        return f"a {type(value).__name__} of {len(value)}"
    return "None: is a `return` missing?" if value is None else f"a value of type {type(value).__name__}"


def _not(kind: str, got: Any, expected: str) -> Difference:
    return Difference(kind, f"expected {expected}, got {describe(got)}")


def _text(got: Any, expected: str) -> Difference | None:
    if isinstance(got, np.ndarray) and got.ndim == 0:
        got = got[()]
    if not isinstance(got, str):
        return _not("type", got, "text")
    return (
        None if got == expected else Difference("value", f"{str(got)[:LONGEST_TEXT]!r} is not the right text")
    )


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
    if not isinstance(got, np.ndarray | list | tuple):
        return _not("type", got, f"an array of shape {expected.shape}")
    try:
        got = as_array(got)
    except NotNumbers:
        return Difference("type", "expected real numbers, got text")
    except ValueError:
        return Difference("shape", f"expected shape {expected.shape}, got lists of unequal lengths")
    except OverflowError:
        return TOO_LARGE
    if got.shape != expected.shape:
        return Difference("shape", f"expected shape {expected.shape}, got shape {got.shape}")
    return _values(got, expected, rtol)


def _number(got: Any, expected: Any, rtol: float) -> Difference | None:
    if not isinstance(got, NUMBERS) and not (isinstance(got, np.ndarray) and got.ndim == 0):
        return _not("type", got, "a number")
    try:
        return _values(as_array(got), np.asarray(expected), rtol)
    except OverflowError:
        return TOO_LARGE


class NotNumbers(ValueError):
    """A value that holds text."""


def _has_text(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list | tuple) and any(map(_has_text, value)))


def as_array(value: Any) -> Any:
    """Return the value as an array; whole numbers of more than 64 bits become floats, because no integer
    dtype holds them.

    Raises:
      NotNumbers: if the value holds text.
      ValueError: if the value holds lists of unequal lengths.
      OverflowError: if it holds a whole number that is too large for a float.
    """
    if _has_text(value):  # NumPy would turn every number into a text of the longest one's length
        raise NotNumbers
    array = np.asarray(value)
    is_real = array.dtype.kind == "O" and all(isinstance(item, int | float) for item in array.flat)
    return array.astype(np.float64) if is_real else array


def _values(got: Any, expected: Any, rtol: float) -> Difference | None:
    if got.dtype.kind not in "biuf":
        return Difference("type", f"expected real numbers, got {_content(got.dtype)}")
    if expected.dtype.kind == "b" and got.dtype.kind != "b":
        return Difference("type", f"expected truth values (dtype bool), got dtype {got.dtype}")
    with np.errstate(all="ignore"):
        ours, theirs = got.astype(np.float64), expected.astype(np.float64)
        bound = _bound(theirs, rtol)
        if (np.abs(ours - theirs) <= bound).all():  # never with a NaN or an infinity among them
            return None
        found = _unlike(ours, theirs) or _unequal(ours, theirs, bound)
    if found is not None and got.dtype.kind == "b":
        return _truth(got, ours != theirs, expected.dtype.kind == "b")
    return found


def _unlike(ours: Floats, theirs: Floats) -> Difference | None:
    """Return the difference if a value is NaN or infinite and should be finite, or the other way round."""
    finite = np.isfinite(theirs)
    strange = finite & ~np.isfinite(ours)
    if strange.any():
        return Difference("finite", f"expected finite numbers, got {_first_wrong(ours, strange)}")
    strange = ~finite & ~((np.isnan(ours) & np.isnan(theirs)) | (ours == theirs))
    if strange.any():
        return Difference(
            "finite", f"expected a different value (NaN or infinite), got {_first_wrong(ours, strange)}"
        )
    return None


def _bound(theirs: Floats, rtol: float) -> float:
    """Return the largest allowed absolute error."""
    magnitudes = np.abs(theirs)
    return float(rtol * magnitudes.max(initial=0.0, where=np.isfinite(magnitudes))) or SMALLEST


def _unequal(ours: Floats, theirs: Floats, bound: float) -> Difference | None:
    """Return the difference if a finite number is too far from the expected one."""
    finite = np.isfinite(theirs)
    errors = np.abs(np.subtract(ours, theirs, where=finite, out=np.zeros_like(theirs)))
    wrong = ~(errors <= bound)
    if not wrong.any():
        return None
    first = tuple(np.argwhere(wrong)[0])
    direction = "large" if ours[first] > theirs[first] else "small"
    return Difference("value", _describe_wrong(ours, wrong, f"is too {direction}"))


def _truth(got: Any, wrong: Any, among_truths: bool) -> Difference:
    """Return the difference for truth values that are wrong, or that were returned instead of numbers."""
    if not among_truths:
        return Difference("type", "expected numbers, got truth values that are not equal to them")
    return Difference("value", _describe_wrong(got, wrong, "is not right"))


def _describe_wrong(values: Any, wrong: Any, verdict: str) -> str:
    """Describe how many values are wrong, and the first wrong value.

    >>> _describe_wrong(np.array([1.0, 2.0, 3.0]), np.array([True, False, True]), "is too large")
    '2 of 3 are wrong; the first, 1.0 at index [0], is too large'
    """
    first = _first_wrong(values, wrong)
    return (
        f"{wrong.sum()} of {wrong.size} are wrong; the first, {first}, {verdict}"
        if wrong.size > 1
        else f"{first} {verdict}"
    )


def _first_wrong(values: Any, bad: Any) -> str:
    """Return the first of the bad values, with its index."""
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    number = repr(values[first].item())
    return f"{number} at index {list(first)}" if first else number


def _content(dtype: "np.dtype[Any]") -> str:
    return "other values among them" if dtype.kind == "O" else f"dtype {dtype}"
