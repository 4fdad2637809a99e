"""Surrogates: value and slope of one token, worked by hand, in every library and precision."""

from functools import partial

import numpy as np
import pytest

from grpo_ref import cispo, clipped, dual_clipped, importance_weighted, kl_cov, reinforce, sapo

# ratio, advantage -> value, slope at clip_low = 0.2, clip_high = 0.28
CLIPPED = {
    "on policy": (1.0, 2.0, 2.0, 2.0),
    "good token, pushed far enough": (1.5, 1.0, 1.28, 0.0),
    "good token, still too rare": (0.5, 0.5, 0.25, 0.25),
    "bad token, pushed far enough": (0.5, -1.0, -0.8, 0.0),
    "bad token, still too likely": (1.5, -0.5, -0.75, -0.75),
    "good token, just inside the wider bound": (1.27, 2.0, 2.54, 2.54),
    "bad token, just inside its bound": (0.81, -2.0, -1.62, -1.62),
    "no signal": (1.5, 0.0, 0.0, 0.0),
}


@pytest.mark.parametrize(("ratio", "advantage", "value", "slope"), CLIPPED.values(), ids=CLIPPED)
def test_clipped(ratio, advantage, value, slope, asarray):
    term = clipped(asarray([np.log(ratio)]), asarray([advantage]), clip_low=0.2, clip_high=0.28)
    asarray.check(term.value, [value])
    asarray.check(term.slope, [slope])
    assert term.direct == 0.0


# the same with a floor at max_ratio = 2
DUAL = CLIPPED | {
    "bad token, a little too likely: the floor 2 A": (2.5, -0.5, -1.0, 0.0),
    "bad token, far too likely: the floor 2 A": (5.0, -1.5, -3.0, 0.0),
    "good token, far too likely: no floor": (5.0, 0.5, 0.64, 0.0),
}


@pytest.mark.parametrize(("ratio", "advantage", "value", "slope"), DUAL.values(), ids=DUAL)
def test_dual_clipped(ratio, advantage, value, slope, asarray):
    arguments = asarray([np.log(ratio)]), asarray([advantage])
    term = dual_clipped(*arguments, clip_low=0.2, clip_high=0.28, max_ratio=2.0)
    asarray.check(term.value, [value])
    asarray.check(term.slope, [slope])
    assert term.direct == 0.0


def test_default_widths_are_those_of_ppo_and_the_default_floor_is_that_of_verl():
    log_ratio, advantages = np.log([0.5, 1.5, 4.0]), np.array([-1.0, 1.0, -1.0])
    np.testing.assert_allclose(clipped(log_ratio, advantages).value, [-0.8, 1.2, -4.0], rtol=1e-15)
    np.testing.assert_allclose(dual_clipped(log_ratio, advantages).value, [-0.8, 1.2, -3.0], rtol=1e-15)


def test_on_the_bound_the_slope_is_still_the_unclipped_one():
    """exp(0) is exactly 1, so half-widths of 0 put the ratio exactly on both bounds."""
    term = clipped(np.zeros(2), np.array([3.0, -3.0]), clip_low=0.0, clip_high=0.0)
    assert term.value.tolist() == term.slope.tolist() == [3.0, -3.0]


def test_on_the_floor_the_slope_is_still_the_clipped_one():
    floor = np.exp(np.array([1.0]))
    term = dual_clipped(np.array([1.0]), np.array([-1.0]), max_ratio=floor.item())
    assert term.value.tolist() == term.slope.tolist() == [-floor.item()]


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


# ratio, log-probability, settings -> weight of an advantage of -2
WEIGHTS = {
    "inside": (3.0, -0.5, {}, -6.0),
    "above the cap": (7.0, -0.5, {}, -10.0),
    "a low ratio is kept": (0.1, -0.5, {}, -0.2),
    "unless there is a lower bound": (0.1, -0.5, {"min_ratio": 0.8}, -1.6),
    "another cap": (7.0, -0.5, {"max_ratio": 1.272}, -2.544),
}


@pytest.mark.parametrize(("ratio", "log_prob", "settings", "weight"), WEIGHTS.values(), ids=WEIGHTS)
def test_cispo_caps_the_weight_and_keeps_the_gradient(ratio, log_prob, settings, weight, asarray):
    term = cispo(asarray([np.log(ratio)]), asarray([log_prob]), asarray([-2.0]), **settings)
    asarray.check(term.direct, [weight])
    asarray.check(term.value, [weight * log_prob])
    assert term.slope == 0.0


def test_cispo_bounds_out_of_order_are_named():
    with pytest.raises(ValueError, match=r"expected 0 <= min_ratio <= max_ratio, got 2\.0 and 1\.0"):
        cispo(np.zeros(1), np.zeros(1), np.zeros(1), min_ratio=2.0, max_ratio=1.0)


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


@pytest.mark.parametrize("settings", [{"tau_positive": 0.0}, {"tau_negative": -1.0}], ids=str)
def test_sapo_without_sharpness_is_refused(settings):
    with pytest.raises(ValueError, match="expected tau_positive, tau_negative > 0, got"):
        sapo(np.zeros(1), np.zeros(1), **settings)


# settings, mask -> coef of each of three tokens
CHOSEN = {
    "less than one token is one token, the first": ({}, [1, 1, 1], [0.1, 0, 0]),
    "0.7 of three tokens are two": ({"share": 0.7}, [1, 1, 1], [0.1, 0.1, 0]),
    "all; where the log-ratio is 0 the penalty has no slope": ({"share": 1.0}, [1, 1, 1], [0.1, 0.1, 0.1]),
    "another coefficient": ({"coef": 0.5}, [1, 1, 1], [0.5, 0, 0]),
    "no token is left to choose": ({"share": 1.0}, [0, 0, 0], [0, 0, 0]),
}


@pytest.mark.parametrize(("settings", "mask", "coefs"), CHOSEN.values(), ids=CHOSEN)
def test_kl_cov_holds_back_the_tokens_of_highest_covariance(settings, mask, coefs, asarray):
    """Three tokens, A = 2, -1, 0 and log π = -1, -3, -2: means 1/3 and -2, covariances 5/3, 4/3 and 0.

    Had the padding's NaN a say in the means, nothing could be ranked.
    """
    log_ratio, log_probs = asarray([[[0.5, -0.5, 0.0, np.nan]]]), asarray([[[-1.0, -3.0, -2.0, np.nan]]])
    advantages, mask = asarray([[[2.0, -1.0, 0.0, np.nan]]]), asarray([[[*mask, 0]]])
    term = kl_cov(log_ratio, log_probs, advantages, mask, **settings)
    gain, coefs = np.array([2 * np.exp(0.5), -np.exp(-0.5), 0.0]), np.array(coefs)
    asarray.check(term.value[0, 0, :3], gain - coefs * [0.5, 0.5, 0.0])
    asarray.check(term.slope[0, 0, :3], gain - coefs * [1, -1, 0])
    assert term.direct == 0.0


# Points on both sides of every kink and at least 0.03 from each: log of 0.8, 1.2, 1.5 are -0.22, 0.18, 0.41
LOG_RATIO = np.array([[[-1.0, -0.3, -0.15, 0.1, 0.3, 0.6], [-0.9, -0.4, -0.1, 0.15, 0.25, 0.7]]])
ADVANTAGES = np.array([[[2.0], [-1.5]]])
LOG_PROBS = np.log(np.linspace(0.1, 0.9, 12)).reshape(1, 2, 6)
SURROGATES = {
    "clipped": partial(clipped, advantages=ADVANTAGES),
    "dual clipped": partial(dual_clipped, advantages=ADVANTAGES, max_ratio=1.5),
    "importance weighted": partial(importance_weighted, advantages=ADVANTAGES),
    "kl-cov": lambda x: kl_cov(x, LOG_PROBS, ADVANTAGES, np.ones_like(x), share=0.5),
    "reinforce": partial(reinforce, advantages=ADVANTAGES),
    "sapo": partial(sapo, advantages=ADVANTAGES, tau_positive=0.5, tau_negative=3.0),
}


@pytest.mark.parametrize("kernel", SURROGATES.values(), ids=SURROGATES)
def test_the_slope_is_the_central_difference_of_the_value(kernel):
    term, h = kernel(LOG_RATIO), 1e-5
    numerical = (kernel(LOG_RATIO + h).value - kernel(LOG_RATIO - h).value) / (2 * h)
    np.testing.assert_allclose(term.slope + term.direct, numerical, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    "settings", [{"clip_low": 1.0}, {"clip_low": -0.1}, {"clip_high": -0.1}, {"clip_high": np.nan}], ids=str
)
@pytest.mark.parametrize("kernel", [clipped, dual_clipped])
def test_half_widths_out_of_range_are_named(kernel, settings):
    with pytest.raises(ValueError, match="expected 0 <= clip_low < 1 and clip_high >= 0, got"):
        kernel(np.zeros(1), np.zeros(1), **settings)


def test_a_floor_at_or_below_one_is_refused():
    with pytest.raises(ValueError, match=r"max_ratio: expected a number > 1, got 1\.0"):
        dual_clipped(np.zeros(1), np.zeros(1), max_ratio=1.0)


def test_clipping_is_decided_from_the_ratio_in_float32_too():
    """Near the bound, float32 and float64 agree on which tokens are clipped."""
    log_ratio = np.log(np.float32(1.2)) + np.linspace(-1e-3, 1e-3, 101, dtype=np.float32)
    slope = clipped(log_ratio, np.ones_like(log_ratio)).slope
    assert slope.dtype == np.float32
    assert np.count_nonzero(slope) in (50, 51)
