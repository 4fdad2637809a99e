"""Paired comparisons over seeds: intervals that hold for all comparisons together, and a verdict by rule."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy import stats

from grpo_ref.arrays import Floats

Expectation = Literal["more", "less", "same"]
Outcome = Literal["holds", "opposite", "not shown"]
Verdict = Literal["supported", "not supported", "opposite", "depends"]

CONFIDENCE = 0.95
"""Of all intervals of one experiment together."""


class Estimate(NamedTuple):
    """A paired difference over seeds.

    Attributes:
      mean: mean difference, in units of the measure.
      low, high: its interval, widened (Bonferroni) so that all intervals of the experiment hold together
        with a confidence of 95 %.
      p: of the two-sided paired t test, adjusted for the number of comparisons (Holm).
      size: Cohen's d for paired samples, the mean difference over its standard deviation.
      seeds: number of pairs.
    """

    mean: float
    low: float
    high: float
    p: float
    size: float
    seeds: int


def estimates(differences: Sequence[Floats]) -> list[Estimate]:
    """One estimate for each comparison of an experiment.

        mean ± t(1 - 0.025/m, S - 1) s / √S,    m comparisons, S seeds

    Args:
      differences: m arrays (S,), left minus right on the same seeds.

    Returns:
      m estimates, their intervals valid together.

    Raises:
      ValueError: if a difference has fewer than two seeds or is not finite.

    Student 1908; Holm 1979 for the adjusted p-values.

    >>> one, = estimates([np.array([1.0, 2.0, 3.0])])
    >>> one.mean, round(one.low, 3), round(one.high, 3), round(one.size, 3)
    (2.0, -0.484, 4.484, 2.0)
    """
    raw = [_unadjusted(difference, len(differences)) for difference in differences]
    adjusted = holm([one.p for one in raw])
    return [one._replace(p=p) for one, p in zip(raw, adjusted, strict=True)]


def _unadjusted(difference: Floats, comparisons: int) -> Estimate:
    seeds = len(difference)
    if seeds < 2 or not np.isfinite(difference).all():
        raise ValueError(f"expected finite differences of at least two seeds, got {seeds}: {difference}")
    mean, spread = float(difference.mean()), float(difference.std(ddof=1))
    error = spread / math.sqrt(seeds)
    reach = float(stats.t.ppf(1.0 - (1.0 - CONFIDENCE) / (2 * comparisons), seeds - 1)) * error
    if spread == 0.0:
        return Estimate(
            mean, mean, mean, float(mean == 0.0), math.copysign(math.inf, mean) if mean else 0.0, seeds
        )
    p = float(2.0 * stats.t.sf(abs(mean) / error, seeds - 1))
    return Estimate(mean, mean - reach, mean + reach, p, mean / spread, seeds)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted so that the chance of any false alarm among them stays below the level.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    scaled = np.asarray(p_values)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return [float(value) for value in adjusted]


def outcome(estimate: Estimate, expect: Expectation, margin: float) -> Outcome:
    """Does one comparison come out as the claim says? The whole interval decides.

    Args:
      estimate: of left minus right.
      expect: "more" or "less": left is greater (smaller) than right by more than the margin; "same": they
        differ by no more than the margin either way.
      margin: the largest difference that does not matter, in units of the measure.

    >>> outcome(Estimate(0.5, 0.2, 0.8, 0.0, 1.0, 64), "more", 0.1)
    'holds'
    >>> outcome(Estimate(0.5, 0.2, 0.8, 0.0, 1.0, 64), "same", 0.1)
    'opposite'
    """
    above, below = estimate.low > margin, estimate.high < -margin
    if expect == "same":
        within = -margin <= estimate.low and estimate.high <= margin
        return "holds" if within else "opposite" if above or below else "not shown"
    holds, opposite = (above, below) if expect == "more" else (below, above)
    return "holds" if holds else "opposite" if opposite else "not shown"


def verdict(outcomes: Sequence[Outcome]) -> Verdict:
    """Of the whole claim: supported or opposite if every comparison is; depends if only some hold.

    >>> verdict(["holds", "not shown"])
    'depends'
    """
    if all(one == "holds" for one in outcomes):
        return "supported"
    if all(one == "opposite" for one in outcomes):
        return "opposite"
    return "depends" if "holds" in outcomes else "not supported"
