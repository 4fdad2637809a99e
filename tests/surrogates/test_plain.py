"""No trust region: the plain policy gradients, worked by hand."""

import numpy as np
import pytest

from grpo_ref.surrogates import importance_weighted, reinforce, squared_ratio


def test_importance_weighted_is_ratio_times_advantage(asarray):
    term = importance_weighted(asarray([np.log(3.0), 0.0]), asarray([2.0, -1.0]))
    asarray.check(term.value, [6, -1])
    asarray.check(term.slope, [6, -1])
    assert term.direct == 0.0


def test_reinforce_has_a_direct_slope_and_no_ratio(asarray):
    """One advantage a completion is broadcast to its tokens."""
    term = reinforce(asarray([[-0.5, -2.0]]), asarray([[3.0]]))
    asarray.check(term.value, [[-1.5, -6.0]])
    asarray.check(term.direct, [[3.0, 3.0]])
    assert term.slope == 0.0


def test_squared_ratio(asarray):
    term = squared_ratio(asarray([0.5]), asarray([-2.0]), asarray([3.0]), beta=4.0)
    asarray.check(term.value, [-6.5])
    asarray.check(term.slope, [-2.0])
    asarray.check(term.direct, [3.0])
    with pytest.raises(ValueError, match="beta: expected a number >= 0"):
        squared_ratio(asarray([0.5]), asarray([-2.0]), asarray([3.0]), beta=-1.0)
