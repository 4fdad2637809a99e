"""Intervals and p-values against numbers worked by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from grpo_ref.lab.framework.statistics import (
    estimates,
    holm,
    interquartile_mean,
    interval,
    skewness,
    student_quantile,
)


def test_interval_is_students():
    # 1, 2, 3: mean 2, s = 1, error 1/√3; with two degrees of freedom t(0.975) = c √(2 / (1 - c²)), c = 0.95
    (one,) = estimates([np.array([1.0, 2.0, 3.0])])
    reach = 0.95 * math.sqrt(2.0 / (1.0 - 0.95**2)) / math.sqrt(3.0)
    np.testing.assert_allclose([one.low, one.high], [2.0 - reach, 2.0 + reach], rtol=1e-12)
    # two-sided p of t = 2√3 with 2 degrees of freedom: 1 - t/√(t² + 2) = 1 - √(12/14)
    np.testing.assert_allclose(one.p, 1.0 - math.sqrt(12.0 / 14.0), rtol=1e-12)
    assert (one.mean, one.size, one.pairs) == (2.0, 2.0, 3)


def test_interval_of_a_mean_over_the_seeds():
    middle, reach = interval(np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]))
    np.testing.assert_allclose(middle, [2.0, 0.0])
    np.testing.assert_allclose(reach, [0.95 * math.sqrt(2.0 / (1.0 - 0.95**2)) / math.sqrt(3.0), 0.0])


@pytest.mark.parametrize("freedom", [1, 2, 7, 127])
def test_quantiles_are_those_of_scipy(freedom):
    assert student_quantile(0.99, freedom) == stats.t.ppf(0.99, freedom)


def test_intervals_of_more_predictions_are_wider():
    difference = np.random.default_rng(0).normal(size=20)
    (alone,), (first, _) = estimates([difference]), estimates([difference, difference])
    assert first.low < alone.low < alone.high < first.high
    assert first.p == pytest.approx(min(2.0 * alone.p, 1.0))


def test_equal_differences_have_no_width():
    same, none = estimates([np.full(4, 0.5), np.zeros(4)])
    assert (same.low, same.high, same.p, same.size) == (0.5, 0.5, 0.0, math.inf)
    assert (none.low, none.high, none.p, none.size) == (0.0, 0.0, 1.0, 0.0)


@pytest.mark.parametrize("difference", [np.array([1.0]), np.array([1.0, np.nan])])
def test_estimates_refuse_what_has_no_spread(difference):
    with pytest.raises(ValueError, match="expected finite differences of at least two seeds"):
        estimates([difference])


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_never_lowers(p_values):
    adjusted = holm(p_values)
    assert all(raw <= new <= 1.0 for raw, new in zip(p_values, adjusted, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0.0).all()
    assert min(adjusted) == min(1.0, len(p_values) * min(p_values))


def test_an_interquartile_mean_ignores_the_largest_and_the_smallest_quarter():
    values = np.array([-50.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 90.0])
    mean, low, high = interquartile_mean(values)
    assert mean == 2.5  # of 1, 2, 3, 4
    # Winsorized: 1, 1, 1, 2, 3, 4, 4, 4 with s² = 14/7 = 2; error √2/(√8/2) = 1; three degrees of freedom.
    assert high - mean == pytest.approx(mean - low) == pytest.approx(stats.t.ppf(0.975, 3))


def test_skewness_is_that_of_scipy():
    values = np.random.default_rng(0).exponential(size=50)
    assert skewness(values) == pytest.approx(stats.skew(values))
    assert skewness(np.ones(3)) == 0.0
