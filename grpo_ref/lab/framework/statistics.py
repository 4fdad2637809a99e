"""Paired differences over seeds, with simultaneous confidence intervals for all of an experiment."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import lazy_loader
import numpy as np

from grpo_ref.arrays import Floats

scipy: Any = lazy_loader.load("scipy")

CONFIDENCE = 0.95
"""Confidence level of all intervals of one experiment together."""


class Estimate(NamedTuple):
    """A paired difference over seeds, or over tasks.

    Attributes:
      mean: mean difference, in units of the measure.
      low, high: confidence interval, widened (Bonferroni) so that all intervals of the experiment hold
        simultaneously with a confidence of 95 %.
      p: p-value of the two-sided paired t test, adjusted for the number of differences (Holm).
      size: Cohen's d for paired samples, the mean difference over its standard deviation.
      pairs: number of pairs.
    """

    mean: float
    low: float
    high: float
    p: float
    size: float
    pairs: int


def estimates(differences: Sequence[Floats], choice_variances: Sequence[float] = ()) -> list[Estimate]:
    """Return one estimate for each paired difference of an experiment.

        mean ± t(1 - 0.025/m, S - 1) √(s²/S + v),    m differences, S seeds

    Args:
      differences: m arrays (S,), left minus right on the same seeds.
      choice_variances: m variances v that the choice of a setting adds to each mean; by default 0.

    Returns:
      m estimates with simultaneous intervals.

    Raises:
      ValueError: if a difference has fewer than two seeds or is not finite.

    Student 1908; Holm 1979 for the adjusted p-values.

    >>> one, = estimates([np.array([1.0, 2.0, 3.0])])
    >>> one.mean, round(one.low, 3), round(one.high, 3), round(one.size, 3)
    (2.0, -0.484, 4.484, 2.0)
    """
    extra = choice_variances or [0.0] * len(differences)
    raw = [
        _unadjusted(difference, len(differences), variance)
        for difference, variance in zip(differences, extra, strict=True)
    ]
    adjusted = holm([one.p for one in raw])
    return [one._replace(p=p) for one, p in zip(raw, adjusted, strict=True)]


def _unadjusted(difference: Floats, differences: int, choice_variance: float) -> Estimate:
    seeds = len(difference)
    if seeds < 2 or not np.isfinite(difference).all():
        raise ValueError(f"expected finite differences of at least two seeds, got {seeds}: {difference}")
    mean, spread = float(difference.mean()), float(difference.std(ddof=1))
    if spread == 0.0 and choice_variance == 0.0:
        size = math.copysign(math.inf, mean) if mean else 0.0
        return Estimate(mean, mean, mean, float(mean == 0.0), size, seeds)
    error = math.sqrt(spread**2 / seeds + choice_variance)
    reach = student_quantile(1.0 - (1.0 - CONFIDENCE) / (2 * differences), seeds - 1) * error
    p = float(2.0 * scipy.special.stdtr(seeds - 1, -abs(mean) / error))
    size = mean / spread if spread else math.copysign(math.inf, mean)
    return Estimate(mean, mean - reach, mean + reach, p, size, seeds)


SKEWED = 1.0
"""Skewness, in absolute value, from which an interquartile mean is reported beside a mean."""


def skewness(values: Floats) -> float:
    """Return the third central moment over the cubed standard deviation; 0 if all values are equal.

    >>> round(skewness(np.array([0.0, 0.0, 0.0, 4.0])), 4), skewness(np.array([1.0, 1.0]))
    (1.1547, 0.0)
    """
    centered = values - values.mean()
    spread = float(np.sqrt((centered**2).mean()))
    return float((centered**3).mean() / spread**3) if spread else 0.0


def interquartile_mean(values: Floats, differences: int = 1) -> tuple[float, float, float]:
    """Return the mean of the middle half of the values, and its confidence interval.

    It is the mean after the smallest and the largest quarter are trimmed. Its standard error is that of the
    winsorized sample, s_w / ((1 - 2 · 0.25) √n), with as many degrees of freedom as values that remain,
    minus one.

    Args:
      values: (n,) values.
      differences: number of intervals that are to hold together.

    Tukey & McLaughlin 1963 for the interval; Agarwal et al. 2021 (arXiv:2108.13264) for its use in
    reinforcement learning.

    >>> interquartile_mean(np.array([0.0, 1.0, 2.0, 3.0, 100.0, 2.0, 1.0, 2.0]))[0]
    1.75
    """
    ordered = np.sort(values)
    trimmed = len(ordered) // 4
    middle = ordered[trimmed : len(ordered) - trimmed]
    winsorized = np.clip(ordered, middle[0], middle[-1])
    error = winsorized.std(ddof=1) / (0.5 * math.sqrt(len(ordered)))
    quantile = student_quantile(1.0 - (1.0 - CONFIDENCE) / (2 * differences), len(middle) - 1)
    mean = float(middle.mean())
    return mean, mean - quantile * float(error), mean + quantile * float(error)


def student_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t distribution.

    Args:
      probability: probability of a value below the quantile.
      freedom: degrees of freedom.

    >>> round(student_quantile(0.975, 2), 4)
    4.3027
    """
    return float(scipy.special.stdtrit(freedom, probability))


def interval(values: Floats) -> tuple[Floats, Floats]:
    """Return the mean over the first axis, and the half-width of its 95 % interval (Student's t)."""
    seeds = len(values)
    error = values.std(0, ddof=1) / np.sqrt(seeds)
    reach: Floats = student_quantile(1.0 - (1.0 - CONFIDENCE) / 2.0, seeds - 1) * error
    return values.mean(0), reach


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values by Holm's method, so that the chance of any false alarm stays below the level.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    scaled = np.asarray(p_values)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return [float(value) for value in adjusted]
