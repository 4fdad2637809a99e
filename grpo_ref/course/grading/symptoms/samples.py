"""The samples in which a rule is searched: calls, or the entries of their results."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats
from grpo_ref.course.grading.symptoms.calls import Judged
from grpo_ref.course.grading.symptoms.features import Features, of_call, of_entries

MOST_ENTRIES = 200
"""Largest number of entries of one call that are examined."""
SAME, ROUNDED, TINY = 1e-9, 1e-6, 1e-13
"""An entry is right if its error is below the first fraction of the largest entry, and also below the second
fraction of its own size plus the third fraction of the largest entry.
"""


class Samples(NamedTuple):
    """The samples in which a rule is searched: calls, or entries of their results.

    Attributes:
      columns: name of a number, or a clause -> its value for each sample.
      wrong: for each sample, whether it is wrong.
      independent: how many of the wrong samples are independent of one another.
    """

    columns: Mapping[str, Floats | Bools]
    wrong: Bools
    independent: int


def of_calls(judged: Sequence[Judged]) -> Samples:
    """Return a sample for each call."""
    wrong = np.array([each.is_wrong for each in judged])
    return Samples(columns_of([of_call(each.given) for each in judged]), wrong, int(wrong.sum()))


def columns_of(samples: Sequence[Features]) -> Mapping[str, Floats | Bools]:
    """Return a column for each feature. A clause that does not apply to a sample is false there."""
    kinds = {name: isinstance(value, bool) for sample in samples for name, value in sample.items()}
    return {
        name: np.array([bool(sample.get(name, False)) for sample in samples])
        if is_clause
        else np.array([float(sample.get(name, np.nan)) for sample in samples])
        for name, is_clause in kinds.items()
    }


def entries_of(judged: Sequence[Judged]) -> Samples | None:
    """Return a sample for each entry, if every wrong call returned an array of the right shape."""
    wrong, blocks, calls = [], [], 0
    for each in judged:
        off = _wrong_entries(each)
        if off is None:
            if each.is_wrong:
                return None
            continue
        unclear = off if not each.is_wrong else np.zeros_like(off)
        off = off & ~unclear
        seen = _seen(off, unclear)
        if not seen.size:
            continue
        whole = {name: np.full(off.size, value) for name, value in of_call(each.given).items()}
        columns = {**whole, **of_entries(each.given, off.shape)}
        blocks.append({name: column[seen] for name, column in columns.items()})
        wrong.append(off.ravel()[seen])
        calls += bool(off.any())
    if not blocks:
        return None
    names = {name: column.dtype == bool for block in blocks for name, column in block.items()}
    joined = {
        name: np.concatenate(
            [_filled(block, name, len(off), is_clause) for block, off in zip(blocks, wrong, strict=True)]
        )
        for name, is_clause in names.items()
    }
    return Samples(joined, np.concatenate(wrong), calls)


def _seen(off: Bools, unclear: Bools) -> Any:
    """Choose the entries of a call that are examined; if there are many, evenly from the wrong and from the
    right ones. Entries that are wrong by less than the tolerance of the call are neither.
    """
    kinds = [np.flatnonzero(off), np.flatnonzero(~off & ~unclear)]
    return np.concatenate([kind[:: len(kind) // (MOST_ENTRIES // 2) + 1] for kind in kinds])


def _filled(block: Mapping[str, Any], name: str, count: int, is_clause: bool) -> Any:
    return block.get(name, np.zeros(count, dtype=bool) if is_clause else np.full(count, np.nan))


def _wrong_entries(each: Judged) -> Bools | None:
    """Return a mask of the wrong entries of an array, whatever the tolerance; None if the shape is wrong.

    If several arrays of one shape are returned, an entry is wrong if it is wrong in any of them.
    """
    if each.call.raised or isinstance(each.expected, Exception | str | Mapping):
        return None
    try:
        got, due = np.asarray(each.call.value, dtype=float), np.asarray(each.expected, dtype=float)
    except (TypeError, ValueError):
        return None
    is_several = isinstance(each.expected, tuple)
    if got.shape != due.shape or not due.size:
        return None
    with np.errstate(all="ignore"):
        error, largest = abs(got - due), abs(due).max()
        is_near = (error <= SAME * largest) & (error <= ROUNDED * abs(due) + TINY * largest)
    off = ~is_near & (got != due)
    return np.asarray(off.any(0) if is_several else off)
