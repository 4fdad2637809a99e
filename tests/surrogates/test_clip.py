"""The clip family, worked by hand."""

from math import exp, log

import numpy as np
import pytest

from grpo_ref.surrogates import clipped, dual_clipped, geometric_mean_clipped, two_sided_clipped

# ratio, advantage -> value, slope at clip_low = 0.2, clip_high = 0.28
CLIPPED = {
    "on policy": (1.0, 2.0, 2.0, 2.0),
    "A > 0, pushed far enough": (1.5, 1.0, 1.28, 0.0),
    "A > 0, still too rare": (0.5, 0.5, 0.25, 0.25),
    "A < 0, pushed far enough": (0.5, -1.0, -0.8, 0.0),
    "A < 0, still too likely": (1.5, -0.5, -0.75, -0.75),
    "A > 0, just inside the wider bound": (1.27, 2.0, 2.54, 2.54),
    "A < 0, just inside its bound": (0.81, -2.0, -1.62, -1.62),
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
    "A < 0, a little too likely: the value is 2 A": (2.5, -0.5, -1.0, 0.0),
    "A < 0, far too likely: the value is 2 A": (5.0, -1.5, -3.0, 0.0),
    "A > 0, far too likely: no cap of its own": (5.0, 0.5, 0.64, 0.0),
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


# ratio, advantage, settings -> value, slope
TWO_SIDED = {
    "A > 0 is clipped at 1 + clip_high": (2.0, 1.0, {"max_ratio": 4.0}, 1.2, 0.0),
    "A < 0 has a gradient up to the cap": (3.0, -1.0, {"max_ratio": 4.0}, -3.0, -3.0),
    "and not beyond it": (5.0, -1.0, {"max_ratio": 4.0}, -4.0, 0.0),
    "with a cap below 1 + clip_high, A > 0 is clipped at the cap": (1.15, 1.0, {"max_ratio": 1.1}, 1.1, 0.0),
    "with a cap below 1 + clip_high, A < 0 is not clipped at the cap": (
        1.15,
        -1.0,
        {"max_ratio": 1.1},
        -1.15,
        -1.15,
    ),
    "which holds beyond it": (1.3, -1.0, {"max_ratio": 1.1}, -1.2, 0.0),
    "A < 0, pushed far enough": (0.5, -1.0, {"max_ratio": 4.0}, -0.8, 0.0),
}


@pytest.mark.parametrize(
    ("ratio", "advantage", "settings", "value", "slope"), TWO_SIDED.values(), ids=TWO_SIDED
)
def test_two_sided_clip(ratio, advantage, settings, value, slope, asarray):
    term = two_sided_clipped(asarray([log(ratio)]), asarray([advantage]), **settings)
    asarray.check(term.value, [value])
    asarray.check(term.slope, [slope])


def test_geometric_mean_clips_each_token_first(asarray):
    """A > 0: log-ratios 0.6 and 0.2 become 0.4 and 0.2, mean 0.3; A < 0: -0.6 and 0.8 become -0.4 and 0.8."""
    log_ratio = asarray([[[0.6, 0.2, 9.0], [-0.6, 0.8, 9.0]]])
    mask = asarray([[[1, 1, 0], [1, 1, 0]]])
    term = geometric_mean_clipped(log_ratio, asarray([[[2.0] * 3, [-1.0] * 3]]), mask)
    good, bad = 2 * exp(0.3), -exp(0.2)
    asarray.check(term.value[..., :2], [[[good, good], [bad, bad]]])
    asarray.check(term.slope[..., :2], [[[0.0, good], [0.0, bad]]])
