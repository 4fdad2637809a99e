"""Hidden cases found by search: inputs on which a wrong answer differs from a right one, stored as data.

The cases lie in a file of the exercise, together with the reference's value at the time of the search, so
that grading is fast and gives the same result everywhere. The file is readable JSON: arrays are nested lists
with their dtype, and NaN and infinities are written out.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from grpo_ref.course.grading.judge import difference
from grpo_ref.course.grading.problem import (
    Calls,
    Case,
    Check,
    Failure,
    Problem,
    Raised,
    Submission,
    format_call,
    format_value,
)

CASES = "cases.json"
"""Name of the data file in the folder of an exercise."""
ENDED = frozenset(("TimedOut", "Died", "NotImplementedError"))
"""Exceptions after which no more calls are made."""
SPECIAL = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}


@dataclass(frozen=True)
class Input:
    """One stored call.

    Attributes:
      arguments, keywords: the arguments of the call.
      expected: the right value, or None if the call must raise.
      raises: name of the exception that the call must raise, or "".
    """

    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    expected: Any
    raises: str = ""


@dataclass(frozen=True)
class FoundCases:
    """All stored calls of one kind as one check. The answer must also leave the inputs unchanged.

    Attributes:
      name: the kind, as a sentence.
      path: the data file.
      kind: key of the kind in the data file.
      why: one sentence that a student reads after failing.
    """

    name: str
    path: Path
    kind: str
    why: str
    shown: bool = False

    @property
    def inputs(self) -> list[Input]:
        """The stored calls, in the order in which they are made."""
        return _thawed_cases(self.path, self.path.stat().st_mtime_ns, self.kind)

    def foreseen(self) -> Calls:
        """Return all stored calls."""
        return [(each.arguments, each.keywords) for each in self.inputs]

    def run(self, submission: Submission, problem: Problem, seed: int) -> None:
        """Make every call, because the diagnosis needs all of them; report the first wrong one."""
        wrong: list[Failure | Raised] = []
        for each in self.inputs:
            try:
                try_input(submission, problem, each)
            except (Failure, Raised) as error:
                wrong.append(error)
                if isinstance(error, Raised) and ENDED & set(error.kinds):
                    break
        if wrong:
            raise wrong[0]


def found_cases(folder: Path) -> tuple[FoundCases, ...]:
    """Return the checks of the data file in the folder of an exercise; none if the file is missing."""
    path = folder / CASES
    if not path.is_file():
        return ()
    kinds = _kinds(path, path.stat().st_mtime_ns)
    return tuple(FoundCases(kind["name"], path, name, kind["why"]) for name, kind in kinds.items())


def compared_inputs(check: Check) -> list[Input]:
    """Return the calls of a check whose right values are stored. Known mistakes are compared on them."""
    if isinstance(check, FoundCases):
        return check.inputs
    return [Input(check.arguments, check.keywords, check.expected)] if isinstance(check, Case) else []


def inputs_of(path: Path) -> dict[str, list[Input]]:
    """Return the stored calls of each kind."""
    stamp = path.stat().st_mtime_ns
    return {name: _thawed_cases(path, stamp, name) for name in _kinds(path, stamp)}


@cache
def _kinds(path: Path, stamp: int) -> Any:
    """Read the kinds of a data file, again if its modification time (`stamp`) has changed."""
    return json.loads(path.read_text(encoding="utf-8"))["kinds"]


@cache
def _thawed_cases(path: Path, stamp: int, kind: str) -> list[Input]:
    return [_input(case) for case in _kinds(path, stamp)[kind]["cases"]]


def _input(case: Mapping[str, Any]) -> Input:
    return Input(
        tuple(thawed(value) for value in case["arguments"]),
        {name: thawed(value) for name, value in case["keywords"].items()},
        thawed(case.get("expected")),
        case.get("raises", ""),
    )


def try_input(submission: Submission, problem: Problem, given: Input) -> None:
    """Make the call and compare the returned value or the exception.

    Raises:
      Failure: if the value is wrong, or an input was changed.
      Raised: if the submission raises.
    """
    try:
        value = submission(*given.arguments, **given.keywords)
    except Raised as raised:
        if given.raises in raised.kinds:
            return
        if given.raises:
            text = f"expected a {given.raises}, got another error"
            raise Failure(_called(problem, given), str(raised), text) from raised
        raise
    wrong = _wrong(value, submission, problem, given)
    if wrong:
        raise Failure(_called(problem, given), format_value(value), wrong)


def _called(problem: Problem, given: Input) -> str:
    return format_call(problem.function, given.arguments, given.keywords)


def _wrong(value: Any, submission: Submission, problem: Problem, given: Input) -> str:
    """Describe what is wrong about a returned value, or return ""."""
    if given.raises:
        return f"expected a {given.raises}, but a value was returned"
    wrong = difference(value, given.expected, problem.rtol)
    if wrong is not None:
        return wrong.text
    is_changed = changed(submission.inputs_after(), given.arguments)
    return "the value is right, but an input was changed; work on a copy" if is_changed else ""


def changed(after: Any, arguments: Sequence[Any]) -> bool:
    """Return whether the inputs after the call differ from the given ones, in a value or a type."""
    return after is not None and not _is_same(list(after[0]), list(arguments))


def _is_same(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(_is_same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_is_same(left[name], right[name]) for name in left)
    if isinstance(left, np.ndarray | np.generic):
        alike = left.dtype == right.dtype and left.shape == right.shape
        return bool(alike and left.tobytes() == right.tobytes())
    return bool(left == right or (left != left and right != right))


def frozen(value: Any) -> Any:
    """Convert a value to readable JSON data, without loss.

    >>> frozen((1.0, [2, float("nan")], np.array([[1.0, np.inf]])))
    {'tuple': [1.0, [2, {'float': 'nan'}], {'float64': [[1.0, 'inf']]}]}

    Raises:
      TypeError: if it holds anything but numbers, text, None, lists, tuples, dicts and numeric arrays.
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if np.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.ndarray):
        return _frozen_array(value)
    if isinstance(value, np.generic):
        return {"scalar": frozen(np.asarray(value))}
    if isinstance(value, list):
        return [frozen(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [frozen(item) for item in value]}
    if isinstance(value, Mapping):
        return {"dict": [[frozen(key), frozen(item)] for key, item in value.items()]}
    raise TypeError(f"a value of type {type(value).__name__} cannot be kept as data")


def thawed(data: Any) -> Any:
    """Convert the data that `frozen` made back to the value."""
    if isinstance(data, list):
        return [thawed(item) for item in data]
    if not isinstance(data, dict):
        return data
    if "float" in data:
        return float(data["float"])
    if "scalar" in data:
        return thawed(data["scalar"])[()]
    if "tuple" in data:
        return tuple(thawed(item) for item in data["tuple"])
    if "dict" in data:
        return {thawed(key): thawed(item) for key, item in data["dict"]}
    return _thawed_array(data)


def _frozen_array(array: Any) -> dict[str, Any]:
    data: dict[str, Any] = {array.dtype.name: _plain(array.tolist())}
    if array.size == 0:
        data["shape"] = list(array.shape)
    if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous:
        data["order"] = "F"
    return data


def _plain(item: Any) -> Any:
    if isinstance(item, list):
        return [_plain(each) for each in item]
    return item if not isinstance(item, float) or np.isfinite(item) else str(item)


def _thawed_array(data: Mapping[str, Any]) -> Any:
    dtype = next(name for name in data if name not in ("shape", "order"))
    array = np.array(_special(data[dtype]), dtype=dtype)
    array = array.reshape(data["shape"]) if "shape" in data else array
    return np.asfortranarray(array) if data.get("order") == "F" else array


def _special(item: Any) -> Any:
    if isinstance(item, list):
        return [_special(each) for each in item]
    return SPECIAL.get(item, item) if isinstance(item, str) else item
