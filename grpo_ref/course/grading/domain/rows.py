"""Patterns of an array's rows: relations between the members of a group that are special.

A pattern changes an array of sampled numbers along its last axis. The caller clips the result to the range.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.course.grading.domain.source import Source


@dataclass(frozen=True)
class Pattern:
    """One pattern.

    Attributes:
      name: the pattern in a few words, as in a list of the tried inputs.
      make: function of a source and sampled numbers that returns numbers of the same shape.
    """

    name: str
    make: Callable[[Source, Floats], Floats]


def one_axis_before(pattern: Pattern) -> Pattern:
    """Return the pattern applied along the last axis but one."""

    def make(source: Source, values: Floats) -> Floats:
        return np.swapaxes(pattern.make(source, np.swapaxes(values, -1, -2)), -1, -2)

    return Pattern(pattern.name, make)


def _binary(source: Source, values: Floats) -> Floats:
    return source.flags(values.shape).astype(float)


def _levels(source: Source, values: Floats) -> Floats:
    """Use at most three different values in the whole array: the first ones sampled."""
    if values.size == 0:
        return values
    kept = values.ravel()[: min(3, values.size)]
    chosen = np.floor(source.reals(0.0, kept.size - 1e-9, values.shape)).astype(int)
    return np.asarray(kept[chosen])


def _constant(source: Source, values: Floats) -> Floats:
    return np.repeat(values[..., :1], values.shape[-1], axis=-1)


def _some_constant(source: Source, values: Floats) -> Floats:
    chosen = source.flags((*values.shape[:-1], 1))
    return np.where(chosen, values[..., :1], values)


def _near_ties(source: Source, values: Floats) -> Floats:
    """Make the members differ by about 0.03 to 1e-9 of their size."""
    scale = source.pick("how near", {f"{size:g}": size for size in (3e-2, 1e-3, 1e-5, 1e-7, 1e-9)})
    base = values[..., :1]
    return np.asarray(base + scale * np.maximum(np.abs(base), 1.0) * source.reals(-1.0, 1.0, values.shape))


def _some_near_ties(source: Source, values: Floats) -> Floats:
    chosen = source.flags((*values.shape[:-1], 1))
    return np.where(chosen, _near_ties(source, values), values)


def _hairs_apart(source: Source, values: Floats) -> Floats:
    """Put each member at its row's first member, or next to it by about 1e-12 or 1e-14 of its size."""
    scale = source.pick("how near", {f"{size:g}": size for size in (1e-12, 1e-14)})
    base = values[..., :1]
    steps = np.floor(source.reals(-1.0, 2.0 - 1e-9, values.shape))
    return np.asarray(base + scale * np.maximum(np.abs(base), 1.0) * steps)


def _offset_rows(source: Source, values: Floats) -> Floats:
    """Shift every row by up to a thousand, each by its own amount."""
    return np.asarray(values + source.reals(-1000.0, 1000.0, (*values.shape[:-1], 1)))


def _scaled_rows(source: Source, values: Floats) -> Floats:
    """Scale every row to a different order of magnitude, by 1e-6 to 1e3."""
    return np.asarray(values * 10.0 ** source.reals(-6.0, 3.0, (*values.shape[:-1], 1)))


def _one_far_out(source: Source, values: Floats) -> Floats:
    """Make one member of each row a hundred times as large."""
    far = values.copy()
    far[..., -1:] *= 100.0
    return far


def _around_the_first(source: Source, values: Floats) -> Floats:
    """Arrange the others in pairs around the row's first member; their differences from it sum to 0."""
    base, count = values[..., :1], (values.shape[-1] - 1) // 2
    steps = np.round(values[..., 1 : 1 + count])
    around = np.concatenate([np.zeros_like(base), steps, -steps], -1)
    rest = np.zeros_like(values[..., around.shape[-1] :])
    return np.asarray(np.round(base) + np.concatenate([around, rest], -1))


def _in_order(source: Source, values: Floats) -> Floats:
    return np.sort(values, axis=-1)


MIXED = Pattern("as drawn", lambda source, values: values)
BINARY = Pattern("zeros and ones", _binary)
LEVELS = Pattern("a few levels", _levels)
CONSTANT = Pattern("equal within each row", _constant)
SOME_CONSTANT = Pattern("equal within some rows", _some_constant)
NEAR_TIES = Pattern("nearly equal within each row", _near_ties)
SOME_NEAR_TIES = Pattern("nearly equal within some rows", _some_near_ties)
HAIRS_APART = Pattern("a hair apart within each row", _hairs_apart)
OFFSET_ROWS = Pattern("rows far apart", _offset_rows)
SCALED_ROWS = Pattern("rows of different size", _scaled_rows)
ONE_FAR_OUT = Pattern("one member far out", _one_far_out)
AROUND_THE_FIRST = Pattern("evenly around the first member", _around_the_first)
IN_ORDER = Pattern("in ascending order", _in_order)

GROUPS = (
    MIXED,
    BINARY,
    LEVELS,
    CONSTANT,
    SOME_CONSTANT,
    NEAR_TIES,
    SOME_NEAR_TIES,
    OFFSET_ROWS,
    SCALED_ROWS,
    ONE_FAR_OUT,
    AROUND_THE_FIRST,
)
"""All patterns for the members of a group."""
