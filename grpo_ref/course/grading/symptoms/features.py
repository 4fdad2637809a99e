"""Features of calls and of the entries of their results: the vocabulary of the rules."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from grpo_ref.arrays import Bools, Floats
from grpo_ref.course.grading.domain.arguments import HUGE, REQUIRED, Argument, Mask, Real, Whole, evaluated
from grpo_ref.course.grading.domain.domain import Domain

Features = dict[str, float | bool]
"""Name of a number, or a clause -> its value for one sample."""


FORMS = (
    "{x} is a list",
    "{x} is a single number",
    "{x} has 1 axis",
    "{x} has 2 axes",
    "{x} has 3 axes",
    "{x} is an array",
    "{x} is an array of floats",
    "{x} holds integers",
    "{x} is an array of integers",
    "{x} holds truth values",
    "{x} is an array of truth values",
    "{x} is an array with transposed memory",
)
"""Clauses on how an argument is passed."""


class Given:
    """The arguments of one call.

    Attributes:
      domain: domain of the exercise.
      values: values by name, with the defaults of omitted arguments.
      left_out: names of the arguments that were omitted.
      by_name: names of the arguments that were passed by name.
      arrays: the numeric values as arrays of floats.
    """

    def __init__(self, domain: Domain, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        given = dict(zip(domain.arguments, arguments, strict=False)) | dict(keywords)
        self.domain = domain
        self.values = {name: given.get(name, kind.default) for name, kind in domain.arguments.items()}
        self.by_name = list(keywords)
        self.left_out = [name for name in domain.arguments if name not in given]
        self.arrays = {
            name: array for name, value in self.values.items() if (array := _numbers(value)) is not None
        }

    @property
    def lengths(self) -> dict[str, int]:
        """Symbol of each axis -> length of the axis. Symbols for which two arguments differ are omitted."""
        found: dict[str, int] = {}
        unclear: set[str] = set()
        for name, kind in self.domain.arguments.items():
            if kind.axes and name in self.arrays:
                shape = self.arrays[name].shape
                symbols = next(
                    (each.split() for each in kind.axes.split("|") if len(each.split()) == len(shape)), []
                )
                for symbol, length in zip(symbols, shape, strict=False):
                    if found.setdefault(symbol, length) != length:
                        unclear.add(symbol)
        return {
            symbol: length
            for symbol, length in found.items()
            if not symbol.isdigit() and symbol not in unclear
        }

    def real(self, name: str) -> Floats:
        """Return the numbers of an argument that are not padding, as a flat array."""
        array, kind = self.arrays[name], self.domain.arguments[name]
        mask = self.arrays.get(getattr(kind, "padding", ""))
        if mask is None or mask.shape != array.shape:
            return array.ravel()
        return array[mask > 0]

    def rows(self, name: str) -> list[Floats]:
        """Return the numbers of each row of an argument, without padding. A row runs along the last axis."""
        array, kind = self.arrays[name], self.domain.arguments[name]
        if not array.ndim or not array.size:
            return [array.ravel()]
        mask = self.arrays.get(getattr(kind, "padding", ""))
        counts = np.ones(array.shape, bool) if mask is None or mask.shape != array.shape else mask > 0
        width = array.shape[-1]
        return [
            row[kept] for row, kept in zip(array.reshape(-1, width), counts.reshape(-1, width), strict=True)
        ]


def of_call(given: Given) -> Features:
    """Return all features of a call as a whole, the simplest first."""
    features: Features = {}
    lengths = given.lengths
    for symbol, length in lengths.items():
        features |= {f"{symbol} is {number}": length == number for number in (0, 1)}
        features[symbol] = float(length)
    symbols = list(lengths)
    features |= {
        f"{a} and {b} differ": lengths[a] != lengths[b]
        for i, a in enumerate(symbols)
        for b in symbols[i + 1 :]
    }
    features |= _of_shapes(given)
    for name, kind in given.domain.arguments.items():
        if kind.default is not REQUIRED:
            features[f"{name} is omitted"] = name in given.left_out
            features[f"{name} is given"] = name not in given.left_out
            features[f"{name} is passed by name"] = name in given.by_name
        if name in given.arrays:
            describe = _of_mask if isinstance(kind, Mask) else _of_numbers
            features |= {
                f"{clause.format(x=name)}": value for clause, value in describe(name, kind, given).items()
            }
        elif isinstance(given.values[name], str):
            features[f"{name} is {given.values[name]!r}"] = True
    return features


def _of_shapes(given: Given) -> Features:
    """Compare the shapes of the arguments that have the same axes."""
    shaped = [name for name, kind in given.domain.arguments.items() if kind.axes and name in given.arrays]
    pairs = [
        (name, other)
        for name, other in itertools.combinations(shaped, 2)
        if given.domain.arguments[name].axes == given.domain.arguments[other].axes
    ]
    return {
        f"{name} and {other} have different shapes": given.arrays[name].shape != given.arrays[other].shape
        for name, other in pairs
    }


def _of_mask(name: str, kind: Argument, given: Given) -> Features:
    mask = given.arrays[name] > 0
    features = _of_form(given.values[name])
    if mask.size:
        rows = mask.reshape(-1, mask.shape[-1]) if mask.ndim else mask.reshape(1, 1)
        features |= {
            "{x} holds a 0": not mask.all(),
            "{x} holds a 1": bool(mask.any()),
            "{x} is all ones": bool(mask.all()),
            "{x} is all zeros": not mask.any(),
            "a row of {x} is all zeros": not rows.any(-1).all(),
            "a row of {x} has a 0 before a 1": bool((np.diff(rows.astype(int), axis=-1) > 0).any()),
            "the number of ones in {x}": float(mask.sum()),
        }
    return features


def _of_numbers(name: str, kind: Argument, given: Given) -> Features:
    array, features = given.arrays[name], _of_form(given.values[name])
    real = given.real(name)
    padding = getattr(kind, "padding", "")
    if padding and real.size < array.size:
        rest = array[given.arrays[padding] <= 0]
        features |= {
            "the padding of {x} holds NaN or infinities": bool((~np.isfinite(rest)).any()),
            "the padding of {x} holds NaN": bool(np.isnan(rest).any()),
            "the padding of {x} holds infinities": bool(np.isinf(rest).any()),
            "the padding of {x} holds huge numbers": bool((abs(rest) >= min(HUGE.values())).any()),
            "the padding of {x} holds anything but 0": bool((rest != 0).any()),
        }
    if kind.axes:
        features["{x} has more than one row"] = len(given.rows(name)) > 1
    if not real.size:
        return features
    if not kind.axes:
        return (
            features
            | {"{x}": float(real[0]), "{x} is 0": bool(real[0] == 0)}
            | _specials(kind, real[0], given)
        )
    numbers: Features = {
        "{x} holds a 0": bool((real == 0).any()),
        "{x} is 0 everywhere": bool((real == 0).all()),
        "{x} holds a negative number": bool((real < 0).any()),
        "the largest number in {x}": float(real.max()),
        "the smallest number in {x}": float(real.min()),
        "the largest absolute value in {x}": float(abs(real).max()),
    }
    if (real != 0).any():
        numbers["the smallest absolute value in {x} other than 0"] = float(abs(real[real != 0]).min())
    numbers |= _of_rows([np.sort(row) for row in given.rows(name)])
    return features | (_without_padding(numbers) if padding else numbers)


def _of_rows(rows: Sequence[Floats]) -> Features:
    """Describe sorted rows of numbers."""
    steps = [np.diff(row) for row in rows]
    features: Features = {
        "a row of {x} holds two or more numbers, all equal": any(
            each.size and (each == 0).all() for each in steps
        ),
        "each row of {x} holds equal numbers": all((each == 0).all() for each in steps),
        "two numbers in a row of {x} are equal": any((each == 0).any() for each in steps),
        "a row of {x} holds different numbers": any((each > 0).any() for each in steps),
    }
    different = np.concatenate([each[each > 0] for each in steps]) if steps else np.zeros(0)
    if different.size:
        features["the smallest difference of two numbers in a row of {x}"] = float(different.min())
        features["the largest difference of two numbers in a row of {x}"] = max(
            float(row[-1] - row[0]) for row in rows if row.size
        )
    return features


def _without_padding(features: Features) -> Features:
    """Add to each name that the padding does not count."""
    return {f"{name} (padding excluded)": value for name, value in features.items()}


def _of_form(value: Any) -> Features:
    """Describe how the numbers are passed."""
    array, is_array = np.asarray(value), isinstance(value, np.ndarray)
    is_whole, is_truth = array.dtype.kind in "iu", array.dtype.kind == "b"
    is_transposed = is_array and array.flags.f_contiguous and not array.flags.c_contiguous
    return dict(
        zip(
            FORMS,
            (
                isinstance(value, list),
                array.ndim == 0,
                *(array.ndim == count for count in (1, 2, 3)),
                is_array,
                is_array and array.dtype.kind == "f",
                is_whole,
                is_array and is_whole,
                is_truth,
                is_array and is_truth,
                is_transposed,
            ),
            strict=True,
        )
    )


def not_padding(domain: Domain) -> list[str]:
    """Return the clauses that are true of an entry that is not padding."""
    return [f"{name} is 1" for name, kind in domain.arguments.items() if isinstance(kind, Mask)]


def of_entries(given: Given, shape: tuple[int, ...]) -> Mapping[str, Floats | Bools]:
    """Return the features of every entry of a result of this shape, as flat arrays. A single number is one
    entry.

    Args:
      given: the arguments of the call.
      shape: shape of the result; its last axis is called a row.

    Returns:
      Name of a number, or clause -> array with a number or truth value for each entry; NaN for numbers that
        are not finite.
    """
    shape = shape or (1,)
    columns = {**_of_places(shape), **_of_differences(given, shape)}
    for name, array in given.arrays.items():
        kind = given.domain.arguments[name]
        array = array.reshape(1) if kind.axes and not array.ndim else array
        if array.shape == shape:
            described = _of_same_shape(array, kind, given)
        elif array.ndim and array.shape == shape[: array.ndim]:
            described = _of_fewer_axes(array, shape)
        elif array.shape[:-1] == shape and array.shape[-1] > 1:
            described = _of_one_axis_more(array)
        else:
            described = {}
        columns |= {clause.format(x=name): column for clause, column in described.items()}
    return {clause: _flat(column) for clause, column in columns.items()}


def _flat(column: Floats | Bools) -> Floats | Bools:
    return column.ravel() if column.dtype == bool else np.where(np.isfinite(column), column, np.nan).ravel()


def _of_places(shape: tuple[int, ...]) -> dict[str, Floats | Bools]:
    """Describe the position of each entry."""
    places = np.indices(shape)
    columns: dict[str, Floats | Bools] = {
        "the entry is not the first of its row": places[-1] > 0,
        "the entry is not the last of its row": places[-1] < shape[-1] - 1,
    }
    if len(shape) > 1:
        block = "row" if len(shape) == 2 else "block along the first axis"
        columns |= {
            f"the entry is not in the first {block}": places[0] > 0,
            f"the entry is not in the last {block}": places[0] < shape[0] - 1,
        }
    return columns


def _of_differences(given: Given, shape: tuple[int, ...]) -> dict[str, Floats | Bools]:
    """Return the differences between two arguments that have a number for each entry."""
    columns: dict[str, Floats | Bools] = {}
    reals = [name for name, kind in given.domain.arguments.items() if isinstance(kind, Real) and kind.axes]
    for name, other in itertools.combinations(reals, 2):
        first, second = (np.atleast_1d(given.arrays[each]) for each in (name, other))
        if first.shape == second.shape == shape:
            with np.errstate(all="ignore"):
                difference = first - second
            columns |= {
                f"{name} equals {other}": first == second,
                f"{name} - {other}": difference,
                f"the absolute value of {name} - {other}": abs(difference),
            }
    return columns


def _of_fewer_axes(array: Floats, shape: tuple[int, ...]) -> Mapping[str, Floats | Bools]:
    """Describe an argument with one number for several entries, such as an advantage for a completion's
    tokens.
    """
    broad = np.broadcast_to(array.reshape(array.shape + (1,) * (len(shape) - array.ndim)), shape)
    return {"the number of {x} for the entry": broad, "the number of {x} for the entry is 0": broad == 0}


def _of_one_axis_more(array: Floats) -> Mapping[str, Floats | Bools]:
    """Describe an argument with a row of numbers for each entry."""
    return {
        "the largest number in the row of {x}": array.max(-1),
        "the smallest number in the row of {x}": array.min(-1),
        "the row of {x} holds a 0": (array == 0).any(-1),
    }


def _of_same_shape(array: Floats, kind: Argument, given: Given) -> Mapping[str, Floats | Bools]:
    if isinstance(kind, Mask):
        return {"{x} is 0": array <= 0, "{x} is 1": array > 0}
    columns: dict[str, Floats | Bools] = {
        "{x}": array,
        "the absolute value of {x}": abs(array),
        "{x} is 0": array == 0,
        "{x} is the largest of its row": array == array.max(-1, keepdims=True),
        "{x} is not the largest of its row": array < array.max(-1, keepdims=True),
        "{x} is the smallest of its row": array == array.min(-1, keepdims=True),
        "{x} is not the smallest of its row": array > array.min(-1, keepdims=True),
        "the number of times that {x} occurs in its row": _counts(array),
        "the largest number in the row of {x}": np.broadcast_to(array.max(-1, keepdims=True), array.shape),
        "the smallest number in the row of {x}": np.broadcast_to(array.min(-1, keepdims=True), array.shape),
    }
    if isinstance(kind, Whole):
        columns |= _of_marks(array, given)
    for text, number in _bounds(kind, given):
        columns |= {
            f"{{x}} is {text}": array == number,
            f"{{x}} is above {text}": array > number,
            f"{{x}} is below {text}": array < number,
        }
    return columns


def _counts(array: Floats) -> Floats:
    """Count how often each number occurs in its row."""
    return np.asarray((array[..., :, None] == array[..., None, :]).sum(-1), dtype=float)


def _of_marks(array: Floats, given: Given) -> Mapping[str, Bools]:
    """Describe where a whole-number argument occurs in an array of whole numbers."""
    columns: dict[str, Bools] = {}
    for name, kind in given.domain.arguments.items():
        if isinstance(kind, Whole) and not kind.axes and array.ndim:
            equal = array == float(given.arrays[name])
            of_rows = {
                f"{name} does not occur in the row": ~equal.any(-1, keepdims=True),
                f"{name} occurs more than once in the row": equal.sum(-1, keepdims=True) > 1,
                f"{{x}} is not {name}": ~equal,
                f"the row of {{x}} begins with {name}": equal[..., :1],
                f"the row of {{x}} ends with {name}": equal[..., -1:],
            }
            columns |= {clause: np.broadcast_to(holds, array.shape) for clause, holds in of_rows.items()}
            columns |= {
                f"{{x}} is {name}": equal,
                f"{name} occurs earlier in the row": np.cumsum(equal, axis=-1) > equal,
            }
    return columns


def _bounds(kind: Argument, given: Given) -> Iterator[tuple[str, float]]:
    """Yield the special values of an argument, and their inverses."""
    for text, number in _special_values(kind, given):
        yield text, number
        if number > 0:
            yield f"1/({text})" if " " in text else f"1/{text}", 1.0 / number


def _specials(kind: Argument, value: float, given: Given) -> Features:
    features: Features = {}
    for text, number in _special_values(kind, given):
        features |= {
            f"{{x}} is {text}": bool(value == number),
            f"{{x}} is below {text}": bool(value < number),
        }
    return features


def _special_values(kind: Argument, given: Given) -> Iterator[tuple[str, float]]:
    for each in getattr(kind, "at", ()):
        if isinstance(each, str):
            yield each, float(evaluated(each, {**given.values, **given.lengths}))


def _numbers(value: Any) -> Floats | None:
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return None
