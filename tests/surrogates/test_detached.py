"""Detached weights, worked by hand: the ratio is a constant, every token keeps its gradient."""

from math import exp, log

import numpy as np
import pytest

from grpo_ref.surrogates import cispo, gspo_token, rollout_is, topr, vespo

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


# ratio to the sampler, advantage -> weight, with bounds of 0.8 and 1.2
RATIOS_TO_SAMPLER = {
    "inside": (1.1, 2.0, 2.2),
    "inside and bad": (0.9, -1.0, -0.9),
    "good and too likely": (1.3, 1.0, 0.0),
    "bad and too likely: dropped too, unlike by a clip": (1.3, -1.0, 0.0),
    "good and too rare: dropped too": (0.7, 1.0, 0.0),
    "not scored by the sampler": (np.nan, 1.0, 0.0),
}


@pytest.mark.parametrize(("ratio", "advantage", "weight"), RATIOS_TO_SAMPLER.values(), ids=RATIOS_TO_SAMPLER)
def test_the_ratio_to_the_sampler_is_the_weight_inside_its_bounds(ratio, advantage, weight, asarray):
    term = rollout_is(asarray([log(0.5)]), asarray([log(0.5) - np.log(ratio)]), asarray([advantage]))
    asarray.check(term.direct, [weight])
    asarray.check(term.value, [weight * log(0.5)])
    assert term.slope == 0.0


def test_half_widths_below_0_are_refused():
    with pytest.raises(ValueError, match=r"expected clip_low and clip_high >= 0, got -0\.1 and 0\.2"):
        rollout_is(np.zeros(1), np.zeros(1), np.zeros(1), clip_low=-0.1)


# ratio, advantage, settings -> weight
TAPERED = {
    "good and rare: weight 1": (0.1, 2.0, {}, 2.0),
    "good and frequent: weight 1": (3.0, 2.0, {}, 2.0),
    "bad and rare: the ratio": (0.1, -2.0, {}, -0.2),
    "bad and frequent: at most 1": (3.0, -2.0, {}, -2.0),
    "good ones count half": (3.0, 2.0, {"positive_weight": 0.5}, 1.0),
    "bad ones count double": (0.1, -2.0, {"negative_weight": 2.0}, -0.4),
    "no signal": (0.1, 0.0, {}, 0.0),
    "a ratio beyond all numbers": (float("inf"), -2.0, {}, -2.0),
}


@pytest.mark.parametrize(("ratio", "advantage", "settings", "weight"), TAPERED.values(), ids=TAPERED)
def test_topr_tapers_bad_completions(ratio, advantage, settings, weight, asarray):
    term = topr(asarray([np.log(ratio)]), asarray([log(0.5)]), asarray([advantage]), **settings)
    asarray.check(term.direct, [weight])
    asarray.check(term.value, [weight * log(0.5)])
    assert term.slope == 0.0


LOG2 = log(2.0)


def test_gspo_token_has_the_value_of_the_clip_and_a_slope_of_the_token(asarray):
    term = gspo_token(asarray([log(1.1), log(1.5)]), asarray([2.0, 1.0]), clip_low=0.2, clip_high=0.2)
    asarray.check(term.value, [2.2, 1.2])
    asarray.check(term.direct, [2.2, 0.0])
    assert term.slope == 0.0


def test_a_limited_sequence_ratio_has_no_slope_beyond_its_limit(asarray):
    ratios, bad = asarray([LOG2, 2.0 * LOG2, 3.0 * LOG2]), asarray([-1.0, -1.0, -1.0])
    term = gspo_token(ratios, bad, max_log_ratio=2.0 * LOG2)
    asarray.check(term.value, [-2.0, -4.0, -4.0])
    asarray.check(term.direct, [-2.0, -4.0, 0.0])


def test_vespo_is_a_bump_with_a_sign(asarray):
    """At w = 2: A > 0 gives 2² e^(3(1-2)) = 4/e³; A < 0 gives 2³ e^(2(1-2)) = 8/e²; corrections are in w."""
    log_ratio, log_probs = asarray([[[0.0, 0.0]], [[LOG2, LOG2]]]), asarray([[[-1.0, -1.0]], [[-1.0, -1.0]]])
    mask, ones = asarray([[[1, 1]], [[1, 1]]]), asarray([[[1, 1]], [[1, 1]]])
    good = vespo(log_ratio, log_probs, asarray([[[1, 1]], [[1, 1]]]), ones, mask)
    asarray.check(good.direct, [[[1, 1]], [[4 / exp(3), 4 / exp(3)]]])
    asarray.check(good.value, [[[-1, -1]], [[-4 / exp(3), -4 / exp(3)]]])
    bad = vespo(log_ratio, log_probs, asarray([[[-1, -1]], [[-1, -1]]]), ones, mask)
    asarray.check(bad.direct, [[[-1, -1]], [[-8 / exp(2), -8 / exp(2)]]])
    corrected = vespo(
        asarray([[[0.0, 0.0]]]),
        asarray([[[-1.0, -1.0]]]),
        asarray([[[1, 1]]]),
        asarray([[[0.5, 4.0]]]),
        asarray([[[1, 1]]]),
    )
    asarray.check(corrected.direct, [[[4 / exp(3), 4 / exp(3)]]])


def test_one_masked_token_does_not_decide_vespos_weight_alone(asarray):
    """Its correction counts as 1e-8; a sequence ratio of 1e8 makes up for it, and w = 1."""
    log_ratio, ones = asarray([[[log(1e8), log(1e8)]]]), asarray([[[1, 1]]])
    term = vespo(log_ratio, asarray([[[-1.0, -1.0]]]), ones, asarray([[[0.0, 1.0]]]), ones)
    asarray.check(term.direct, [[[1, 1]]])


def test_vespo_is_limited_far_away(asarray):
    """w = e^-100 counts as 1e-8: k = 2 gives 1e-16 e^(3 (1 - 1e-8))."""
    ones = asarray([[[1]]])
    term = vespo(asarray([[[-100.0]]]), asarray([[[-1.0]]]), ones, ones, ones)
    np.testing.assert_allclose(float(term.direct[0, 0, 0]), 1e-16 * exp(3.0), rtol=1e-4)
    with pytest.raises(
        ValueError, match="expected k_positive, lambda_positive, k_negative, lambda_negative > 0"
    ):
        vespo(ones, ones, ones, ones, ones, k_positive=0.0)
