"""Choose a setting for each arm on tasks of its own, and measure how much the choice itself is noise.

A comparison of two algorithms, each at its best learning rate, depends on the grid and on the few tasks on
which the rates were chosen. So a grid is widened while its best value lies at an end, all values that score
alike are reported, and the verdict's intervals contain the noise of the choice.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import Measures
from grpo_ref.lab.framework.statistics import interval

MOST_WIDER = 3
"""Largest number of values by which a grid is widened."""
DRAWS = 1000
"""Number of bootstrap samples of the tuning tasks."""


class TunedArm(NamedTuple):
    """Results of an arm on the tuning tasks, at each value of its setting.

    Attributes:
      setting: name of the setting.
      by: name of the measure by which the value is chosen.
      measures: value -> its measures, (T,) one number for each tuning task.
    """

    setting: str
    by: str
    measures: Mapping[Any, Measures]

    @property
    def scores(self) -> dict[Any, Floats]:
        """Value -> (T,) the measure by which the value is chosen."""
        return {value: numbers[self.by] for value, numbers in self.measures.items()}

    @property
    def best(self) -> Any:
        """The value with the largest mean score."""
        return max(self.measures, key=lambda value: self.measures[value][self.by].mean())

    def alike(self) -> list[Any]:
        """Return the neighbours of the best value whose scores cannot be distinguished from its score.

        A value is alike if the 95 % interval (Student's t) of the paired difference to the best value
        contains zero, and if all values between it and the best are alike. The best value is included.
        """
        values, best = list(self.measures), self.best
        at = values.index(best)
        first, last = at, at
        while first > 0 and self._near(values[first - 1], best):
            first -= 1
        while last < len(values) - 1 and self._near(values[last + 1], best):
            last += 1
        return values[first : last + 1]

    def _near(self, value: Any, best: Any) -> bool:
        mean, reach = interval(self.scores[best] - self.scores[value])
        return bool(mean <= reach)


def wider(values: Sequence[Any], scores: Mapping[Any, Floats], tried: int) -> Any | None:
    """Return one more value for a grid whose best value lies at an end, or None if the grid is wide enough.

    A grid is wide enough if its best value is inside, if the best value gains no more over its neighbour than
    the standard error of the gain (the score is flat), or if `MOST_WIDER` values were added.

    Args:
      values: values tried, in increasing order.
      scores: value -> (T,) scores on the tuning tasks.
      tried: number of values that were added before.

    >>> up = {0.1: np.zeros(3), 0.3: np.array([1.0, 1.1, 0.9]), 1.0: np.array([2.0, 2.2, 1.9])}
    >>> wider(list(up), up, 0)
    3.0
    >>> wider(list(up), {**up, 1.0: np.array([1.0, 1.1, 0.9])}, 0) is None
    True
    """
    if tried == MOST_WIDER or len(values) < 2 or not _increasing(values):
        return None
    best = max(values, key=lambda value: scores[value].mean())
    if best not in (values[0], values[-1]):
        return None
    neighbour = values[1] if best == values[0] else values[-2]
    gain = scores[best] - scores[neighbour]
    if gain.mean() <= gain.std(ddof=1) / np.sqrt(len(gain)):
        return None
    # The ratio one place further in, if there is one: 0.1, 0.3, 1 continues with 3, and 0.3, 1, 3 with 10.
    if best == values[-1]:
        low, high = values[-3:-1] if len(values) > 2 else values
        further = best * high / low
    else:
        low, high = values[1:3] if len(values) > 2 else values
        further = best * low / high
    return float(f"{further:.1g}")


def _increasing(values: Sequence[Any]) -> bool:
    """Return True if the values are positive floats in increasing order."""
    return all(isinstance(one, float) and one > 0.0 for one in values) and list(values) == sorted(values)


def choice_variance(measure: str, left: TunedArm | None, right: TunedArm | None) -> float:
    """Return the variance of a difference that is due to the choice of the two settings.

    The tuning tasks are resampled, with replacement, `DRAWS` times. Each time both arms choose again, and
    their difference changes by the measure's means at the new values. By the law of total variance this adds
    to the variance over the tasks of the verdict:

        Var[d] = E[Var[d | values]] + Var[E[d | values]]

    The means are estimated on the tuning tasks, whose own noise makes the variance a little too large.

    Args:
      measure: name of the measure, (T,) in both arms.
      left, right: the arms' results on the same tuning tasks; None for an arm without a tuned setting.

    Efron & Tibshirani 1993, ch. 6, for the bootstrap.
    """
    arms = [one for one in (left, right) if one is not None]
    if not arms:
        return 0.0
    tasks = len(next(iter(arms[0].scores.values())))
    drawn = np.random.default_rng(0).integers(0, tasks, (DRAWS, tasks))
    shifts = np.zeros(DRAWS)
    for one, sign in ((left, 1.0), (right, -1.0)):
        if one is not None:
            scores = np.array(list(one.scores.values()))  # (values, T)
            means = np.array([numbers[measure].mean() for numbers in one.measures.values()])
            choice = scores[:, drawn].mean(-1).argmax(0)  # (DRAWS,) index of the value
            shifts += sign * means[choice]
    return float(shifts.var())


def at_equal_values(measure: str, left: TunedArm, right: TunedArm) -> dict[Any, Floats]:
    """Return value -> (T,) difference of left minus right on the tuning tasks, both at this value.

    Args:
      measure: name of the measure.
      left, right: results of two arms on the same tuning tasks.
    """
    if left.setting != right.setting:
        return {}
    return {
        value: left.measures[value][measure] - right.measures[value][measure]
        for value in left.measures
        if value in right.measures
    }
