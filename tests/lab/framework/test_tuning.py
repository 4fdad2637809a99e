"""The choice of a setting: values that score alike, a grid that is wide enough, the noise of the choice."""

import numpy as np
import pytest

from grpo_ref.lab.framework.statistics import estimates
from grpo_ref.lab.framework.tuning import TunedArm, at_equal_values, choice_variance, wider


def an_arm(**scores):
    """Return an arm with these scores, at the rates 1, 2, 3, ...; "level" is ten times the rate."""
    tasks = len(next(iter(scores.values())))
    values = [float(number) for number in range(1, len(scores) + 1)]
    measures = {
        value: {"score": np.array(found, dtype=float), "level": np.full(tasks, 10.0 * value)}
        for value, found in zip(values, scores.values(), strict=True)
    }
    return TunedArm("rate", "score", measures)


GRIDS = {
    "best inside": ((0.1, 0.3, 1.0), (0, 1, 0), 0, None),
    "rises to the end": ((0.1, 0.3, 1.0), (0, 1, 2), 0, 3.0),
    "rises, in the other phase of the grid": ((0.3, 1.0, 3.0), (0, 1, 2), 0, 10.0),
    "falls from the start": ((0.1, 0.3, 1.0), (2, 1, 0), 0, 0.03),
    "falls, in the other phase of the grid": ((0.03, 0.1, 0.3), (2, 1, 0), 0, 0.01),
    "two values": ((1.0, 10.0), (0, 1), 0, 100.0),
    "enough was added": ((0.1, 0.3, 1.0), (0, 1, 2), 3, None),
    "whole numbers are not a scale of rates": ((1, 2, 4), (0, 1, 2), 0, None),
    "one value": ((0.1,), (1,), 0, None),
}


@pytest.mark.parametrize(("values", "levels", "added", "expected"), GRIDS.values(), ids=GRIDS)
def test_a_grid_goes_on_where_its_best_value_is(values, levels, added, expected):
    noise = np.array([0.1, -0.1, 0.0])
    scores = {value: level + noise * level for value, level in zip(values, levels, strict=True)}
    assert wider(values, scores, added) == expected


def test_a_grid_that_is_flat_at_its_end_is_wide_enough():
    # The gain of the last value is (3, -1, -1)/3 in the mean, with a standard error of 4/3.
    scores = {0.1: np.zeros(3), 0.3: np.ones(3), 1.0: np.array([4.0, 0.0, 0.0])}
    assert wider((0.1, 0.3, 1.0), scores, 0) is None


def test_neighbours_of_the_best_value_that_score_alike():
    arm = an_arm(first=[0, 0, 0], near=[2, 3, 1], best=[3, 2, 2], last=[0, 0, 0])
    # best - near = 1, -1, 1: mean 1/3, reach 4.30 · 1.15/√3. best - last = 3, 2, 2: mean 2.33, reach 1.43.
    assert (arm.best, arm.alike()) == (3.0, [2.0, 3.0])


def test_a_choice_without_doubt_adds_no_variance():
    sure = an_arm(low=[0, 0, 0], high=[1, 1.1, 0.9])
    assert choice_variance("level", sure, sure) == 0.0
    assert choice_variance("level", None, None) == 0.0


def test_a_coin_flip_between_two_values_adds_the_variance_of_a_coin():
    # Of one task, a bootstrap sample of three holds more than of the other two only by chance: each value is
    # chosen if its tasks are in the majority. "level" is 10 or 20.
    doubtful = an_arm(low=[1.0, 0.0], high=[0.0, 1.0])
    # Samples: (0, 0) chooses low, (1, 1) high, and the two mixed ones are ties, which go to the first value.
    # So low has a probability of 3/4, and the variance is 10² · 3/4 · 1/4.
    assert choice_variance("level", doubtful, None) == pytest.approx(18.75, rel=0.1)
    # The same arm on both sides makes the same choice on the same tasks, so nothing is added.
    assert choice_variance("level", doubtful, doubtful) == 0.0


def test_differences_at_equal_values_are_of_values_that_both_arms_tried():
    few, more = an_arm(a=[1, 2], b=[3, 4]), an_arm(a=[0, 0], b=[1, 1], c=[5, 5])
    found = at_equal_values("score", few, more)
    assert {value: one.tolist() for value, one in found.items()} == {1.0: [1.0, 2.0], 2.0: [2.0, 3.0]}
    assert at_equal_values("score", few, more._replace(setting="other")) == {}


def test_an_interval_contains_the_noise_of_the_choice():
    values = np.array([1.0, 2.0, 3.0])
    (alone,), (more,) = estimates([values]), estimates([values], [1.0])
    # Standard errors: √(1/3), and √(1/3 + 1), which is twice as much.
    assert more.high - more.mean == pytest.approx(2.0 * (alone.high - alone.mean))
