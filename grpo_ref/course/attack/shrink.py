"""Make a found input smaller and rounder while it still catches the same wrong answers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import REQUIRED, Argument, Made, Whole, evaluated
from grpo_ref.course.grading.domain.domain import Domain, Draw
from grpo_ref.course.grading.input_checks import Candidate, Rights, domain_of, size_of

ROUNDS = 12
"""Largest number of steps. Each step takes the best of all simpler inputs."""
AT_ONCE = 8
"""Number of inputs that are tried with one message."""
DIGITS = (1, 2, 3, 5)

StillWorks = Callable[[list[Candidate]], list[bool]]
"""Decides which of some inputs still catch the same wrong answers."""


def shrunk(candidate: Candidate, rights: Rights, still_works: StillWorks) -> Candidate:
    """Return the simplest input that greedy steps find.

    A step removes half of an axis or one place of it, rounds all numbers of an argument, or omits an argument
    that has a default. The result must lie in the domain and be fit to judge by.
    """
    if candidate.draw.refused:
        return candidate
    for _ in range(ROUNDS):
        simpler = _simpler(candidate, rights, still_works)
        if simpler is None:
            return candidate
        candidate = simpler
    return candidate


def _simpler(candidate: Candidate, rights: Rights, still_works: StillWorks) -> Candidate | None:
    """Return the simplest input, one step away, that still works. Inputs are tried a few at a time."""
    draws = [
        draw for draw in steps(candidate.draw, domain_of(rights.problem)) if cost(draw) < cost(candidate.draw)
    ]
    draws.sort(key=cost)
    for first in range(0, len(draws), AT_ONCE):
        tried = [rights.candidate(draw) for draw in draws[first : first + AT_ONCE]]
        fit = [each for each in tried if isinstance(each, Candidate)]
        working = (each for each, works in zip(fit, still_works(fit), strict=True) if works)
        if (found := next(working, None)) is not None:
            return found
    return None


def cost(draw: Draw) -> tuple[int, int]:
    """Return the cost of an input: the number of its numbers first, then their digits."""
    return size_of(draw), len(repr((draw.arguments, draw.keywords)))


def steps(draw: Draw, domain: Domain) -> Iterator[Draw]:
    """Yield every input that is one step simpler and still in the domain."""
    for simpler in (*_smaller(draw, domain), *_rounder(draw, domain), *_shorter(draw, domain)):
        if all(rule.holds(domain.plain(simpler)) for rule in domain.rules):
            yield simpler


def _smaller(draw: Draw, domain: Domain) -> Iterator[Draw]:
    """Yield inputs without half of an axis, or one place of it, in all arguments that have the axis."""
    if any(isinstance(kind, Made) for kind in domain.arguments.values()):
        return
    axes = {name: _axes(domain.arguments[name], draw) for name in draw.values}
    for symbol, (least, _) in domain.sizes.items():
        length = _length(symbol, draw, axes)
        for kept in _parts(length):
            if least <= len(kept) < length:
                values = {
                    name: _taken(value, axes[name], symbol, kept) for name, value in draw.values.items()
                }
                simpler = replace(draw, values=values)
                if _is_within(simpler, domain, axes):
                    yield simpler


def _is_within(draw: Draw, domain: Domain, axes: Mapping[str, list[str]]) -> bool:
    """Return whether the whole numbers are still within their bounds, which may be lengths of axes."""
    sizes = {symbol: _length(symbol, draw, axes) for symbol in domain.sizes}
    for name, value in draw.values.items():
        kind = domain.arguments[name]
        if isinstance(kind, Whole) and np.size(value):
            low, high = (evaluated(bound, sizes) for bound in kind.within)
            if np.min(value) < low or np.max(value) > high:
                return False
    return True


def turned(draw: Draw, domain: Domain) -> Iterator[Draw]:
    """Yield, for each axis, the input reversed along it in all arguments that have the axis."""
    if draw.refused or any(isinstance(kind, Made) and kind.axes for kind in domain.arguments.values()):
        return
    axes = {name: _axes(domain.arguments[name], draw) for name in draw.values}
    for symbol in domain.sizes:
        order = list(range(_length(symbol, draw, axes)))[::-1]
        if len(order) > 1:
            values = {name: _taken(value, axes[name], symbol, order) for name, value in draw.values.items()}
            yield replace(draw, values=values)


def _axes(kind: Argument, draw: Draw) -> list[str]:
    """Return the symbols of the axes that an argument has in this input."""
    options = kind.axes.split("|")
    return options[int(draw.tags["shape"]) if len(options) > 1 else 0].split()


def _length(symbol: str, draw: Draw, axes: Mapping[str, list[str]]) -> int:
    lengths = [
        np.shape(draw.values[name])[each.index(symbol)] for name, each in axes.items() if symbol in each
    ]
    return lengths[0] if lengths else 0


def _parts(length: int) -> list[list[int]]:
    """Return the first half, the second half, and all but one, of this many places."""
    every, half = list(range(length)), length // 2
    but_one = [every[:i] + every[i + 1 :] for i in every] if length <= 8 else []
    return [every[:half], every[half:], *but_one]


def _taken(value: Any, axes: list[str], symbol: str, kept: list[int]) -> Any:
    """Select places along every axis of this symbol, in the same container and memory order.

    An empty list would lose its other axes, so empty values become arrays.
    """
    if symbol not in axes:
        return value
    array = np.asarray(value)
    for axis, name in enumerate(axes):
        array = np.take(array, kept, axis) if name == symbol else array
    if isinstance(value, list):
        return array.tolist() if array.size else array
    is_transposed = value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous
    return np.asfortranarray(array) if is_transposed else array


def _rounder(draw: Draw, domain: Domain) -> Iterator[Draw]:
    """Yield inputs with fewer digits in all numbers of one argument."""
    for name, value in draw.values.items():
        within = getattr(domain.arguments[name], "within", None)
        if within is None or not all(isinstance(bound, int | float) for bound in within):
            continue
        for digits in DIGITS:
            rounder = _rounded(value, digits, within)
            if repr(rounder) != repr(value):
                yield replace(draw, values={**draw.values, name: rounder})


def _rounded(value: Any, digits: int, within: tuple[float, float]) -> Any:
    if isinstance(value, list):
        return [_rounded(item, digits, within) for item in value]
    if isinstance(value, float):
        return float(_rounded(np.asarray(value), digits, within))
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    usual = np.isfinite(value) & (value >= within[0]) & (value <= within[1])
    texts = [f"{number:.{digits - 1}e}" for number in np.where(usual, value, 0.0).ravel()]
    rounder = np.clip(np.array(texts, dtype=float).reshape(value.shape), *within)
    return np.where(usual, rounder, value)


def _shorter(draw: Draw, domain: Domain) -> Iterator[Draw]:
    """Yield inputs that omit one argument with a default, if it was passed by name or as the last one."""
    names = list(draw.values)
    for place, name in enumerate(names):
        droppable = domain.arguments[name].default is not REQUIRED
        if droppable and (place >= draw.positional or place == len(names) - 1):
            values = {other: value for other, value in draw.values.items() if other != name}
            yield replace(draw, values=values, positional=min(draw.positional, len(values)))
