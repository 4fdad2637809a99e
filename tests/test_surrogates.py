"""Surrogates: value and slope of one token, worked by hand, in every library and precision."""

import numpy as np
import pytest

from grpo_ref import clipped, dual_clipped, importance_weighted, kl_cov, reinforce

# ratio, advantage -> value, slope at clip_low = 0.2, clip_high = 0.28
CLIPPED = {
    "on policy": (1.0, 2.0, 2.0, 2.0),
    "good token, pushed far enough": (1.5, 1.0, 1.28, 0.0),
    "good token, still too rare": (0.5, 1.0, 0.5, 0.5),
    "bad token, pushed far enough": (0.5, -1.0, -0.8, 0.0),
    "bad token, still too likely": (1.5, -1.0, -1.5, -1.5),
    "good token, just inside the wider bound": (1.27, 2.0, 2.54, 2.54),
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
    "bad token, far too likely: the floor 2 A": (5.0, -1.5, -3.0, 0.0),
    "good token, far too likely: no floor": (5.0, 1.5, 1.92, 0.0),
}


@pytest.mark.parametrize(("ratio", "advantage", "value", "slope"), DUAL.values(), ids=DUAL)
def test_dual_clipped(ratio, advantage, value, slope, asarray):
    arguments = asarray([np.log(ratio)]), asarray([advantage])
    term = dual_clipped(*arguments, clip_low=0.2, clip_high=0.28, max_ratio=2.0)
    asarray.check(term.value, [value])
    asarray.check(term.slope, [slope])


def test_on_the_bound_the_slope_is_still_the_unclipped_one():
    """exp(0) is exactly 1, so half-widths of 0 put the ratio exactly on both bounds."""
    term = clipped(np.zeros(2), np.array([3.0, -3.0]), clip_low=0.0, clip_high=0.0)
    assert term.value.tolist() == term.slope.tolist() == [3.0, -3.0]


def test_importance_weighted_is_ratio_times_advantage(asarray):
    term = importance_weighted(asarray([np.log(3.0), 0.0]), asarray([2.0, -1.0]))
    asarray.check(term.value, [6, -1])
    asarray.check(term.slope, [6, -1])


def test_reinforce_has_a_direct_slope_and_no_ratio(asarray):
    term = reinforce(asarray([[-0.5, -2.0]]), asarray([[3.0]]))
    asarray.check(term.value, [[-1.5, -6.0]])
    asarray.check(term.direct, [[3.0, 3.0]])
    assert term.slope == 0.0


def test_kl_cov_holds_back_the_token_of_highest_covariance(asarray):
    """Three tokens, A = 2, -1, 0 and log π = -1, -3, -2: means 1/3 and -2, covariances 5/3, 4/3 and 0.

    A share of 0.34 of three tokens is one token, the first; what stands in the padding is not asked.
    """
    log_ratio, log_probs = asarray([[[0.5, 0.5, -0.5, 9.0]]]), asarray([[[-1.0, -3.0, -2.0, 9.0]]])
    advantages, mask = asarray([[[2.0, -1.0, 0.0, 9.0]]]), asarray([[[1, 1, 1, 0]]])
    term = kl_cov(log_ratio, log_probs, advantages, mask, share=0.34, coef=0.1)
    gain = np.exp(0.5) * np.array([2.0, -1.0])
    asarray.check(term.value[..., :3], [[[gain[0] - 0.05, gain[1], 0.0]]])
    asarray.check(term.slope[..., :3], [[[gain[0] - 0.1, gain[1], 0.0]]])


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


@pytest.mark.parametrize("kernel", [clipped, dual_clipped, importance_weighted, reinforce])
def test_runs_are_independent(kernel):
    one, two = np.random.default_rng(0).normal(size=(2, 4, 2, 3, 5))
    np.testing.assert_array_equal(
        kernel(one, two).value, np.stack([kernel(*run).value for run in zip(one, two, strict=True)])
    )


def test_kl_cov_chooses_within_each_run():
    log_ratio, log_probs, advantages = np.random.default_rng(0).normal(size=(3, 4, 2, 3, 5))
    mask = np.random.default_rng(1).random((4, 2, 3, 5)) < 0.7
    together = kl_cov(log_ratio, log_probs, advantages, mask, share=0.2).slope
    apart = [
        kl_cov(*run, share=0.2).slope for run in zip(log_ratio, log_probs, advantages, mask, strict=True)
    ]
    np.testing.assert_allclose(together, np.stack(apart), rtol=1e-14)
