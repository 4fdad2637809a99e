"""Patterns of rows that are probabilities: shapes of a distribution over a vocabulary.

As in `rows`, a pattern changes sampled numbers along the last axis. Here every row sums to 1, up to rounding.
"""

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.course.grading.domain.rows import Pattern
from grpo_ref.course.grading.domain.source import Source


def _proportional(source: Source, values: Floats) -> Floats:
    """Divide the magnitudes by their sum. In a row of zeros, the first member gets probability 1."""
    sizes = np.abs(values)
    sizes[..., 0] += sizes.sum(-1) == 0.0
    return np.asarray(sizes / sizes.sum(-1, keepdims=True))


def _certain(source: Source, values: Floats) -> Floats:
    """Give one member of each row probability 1."""
    size = values.shape[-1]
    chosen = np.floor(source.reals(0.0, size - 1e-9, (*values.shape[:-1], 1)))
    return np.asarray(np.arange(size) == chosen, dtype=float)


def _nearly_certain(source: Source, values: Floats) -> Floats:
    """Give one member of each row nearly all probability. Some others have 0, some 1e-6 to 1e-2 together."""
    certain = _certain(source, values)
    small = 10.0 ** source.reals(-6.0, -2.0, values.shape) / values.shape[-1]
    others = np.where(source.flags(values.shape), small, 0.0) * (1.0 - certain)
    return np.asarray(others + certain * (1.0 - others.sum(-1, keepdims=True)))


def _quarters(source: Source, values: Floats) -> Floats:
    """Return multiples of 1/4, whose cumulative sums are exact."""
    size = values.shape[-1]
    owners = np.floor(source.reals(0.0, size - 1e-9, (*values.shape[:-1], 4)))
    return np.asarray((owners[..., :, None] == np.arange(size)).sum(-2) / 4.0)


def _alike_then_zeros(source: Source, values: Floats) -> Floats:
    """Share the probability equally among the first members of each row; the others have 0."""
    size = values.shape[-1]
    count = 1.0 + np.floor(source.reals(0.0, size - 1e-9, (*values.shape[:-1], 1)))
    return np.where(np.arange(size) < count, 1.0 / count, 0.0)


def _some_tiny(source: Source, values: Floats) -> Floats:
    """Give some members a probability of about 1e-12, or much less."""
    scale = source.pick("how tiny", {f"{size:g}": size for size in (1e-12, 1e-30, 1e-200, 1e-290)})
    kept = source.flags(values.shape)
    kept[..., 0] |= ~kept.any(-1)
    return _proportional(source, np.abs(values) * np.where(kept, 1.0, scale))


PROPORTIONAL = Pattern("as drawn, divided by their sum", _proportional)
CERTAIN = Pattern("one certain", _certain)
NEARLY_CERTAIN = Pattern("one nearly certain", _nearly_certain)
QUARTERS = Pattern("quarters", _quarters)
ALIKE_THEN_ZEROS = Pattern("some alike, then zeros", _alike_then_zeros)
SOME_TINY = Pattern("some nearly impossible", _some_tiny)

LEAST_PROBABILITY = 1e-300
"""Smallest probability other than 0."""
DISTRIBUTIONS = (PROPORTIONAL, CERTAIN, NEARLY_CERTAIN, QUARTERS, ALIKE_THEN_ZEROS, SOME_TINY)
"""All patterns of probabilities."""
