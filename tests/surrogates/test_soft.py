"""Soft gates, worked by hand."""

import numpy as np
import pytest

from grpo_ref.surrogates import sapo


def test_sapo_at_a_ratio_of_one_and_of_two(asarray):
    """At 1 the gate is 1/2: value 2A/τ, slope A. At 2 with τ = log 3 the gate is 3/4: slope 4 (3/16) 2 A."""
    term = sapo(asarray([0.0, 0.0]), asarray([3.0, -3.0]), tau_positive=2.0, tau_negative=4.0)
    asarray.check(term.value, [3.0, -1.5])
    asarray.check(term.slope, [3.0, -3.0])
    term = sapo(asarray([np.log(2.0)]), asarray([1.0]), tau_positive=np.log(3.0))
    asarray.check(term.value, [3.0 / np.log(3.0)])
    asarray.check(term.slope, [1.5])


def test_sapo_without_advantage_and_far_away(asarray):
    """A ratio of e¹⁰ saturates the gate: value 4/τ, no slope, and nothing overflows."""
    term = sapo(asarray([0.5, 10.0]), asarray([0.0, 1.0]))
    asarray.check(term.value, [0.0, 4.0])
    asarray.check(term.slope, [0.0, 0.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sapo_has_no_slope_where_the_ratio_overflows(dtype):
    """e⁷¹⁰ is more than a float64 holds, e⁸⁹ more than a float32. The gate is open, and its slope 0."""
    with np.errstate(over="ignore"):
        term = sapo(np.array([750.0], dtype=dtype), np.array([1.0], dtype=dtype))
    assert (term.value[0], term.slope[0]) == (4.0, 0.0)


def test_sapo_keeps_the_digits_of_a_tiny_slope(asarray):
    """At r = 40, A = 1: 1 - p is e⁻³⁹ to 17 digits, so the slope is 4 · 40 e⁻³⁹; 1 - p as it stands gives 0.

    The ratio's rounding counts forty times in the exponent.
    """
    slope = asarray.to_numpy(sapo(asarray([np.log(40.0)]), asarray([1.0])).slope)
    np.testing.assert_allclose(slope, [160.0 * np.exp(-39.0)], rtol=40.0 * asarray.rtol, atol=0.0)


@pytest.mark.parametrize("settings", [{"tau_positive": 0.0}, {"tau_negative": -1.0}], ids=str)
def test_sapo_without_sharpness_is_refused(settings):
    with pytest.raises(ValueError, match="expected tau_positive, tau_negative > 0, got"):
        sapo(np.zeros(1), np.zeros(1), **settings)
