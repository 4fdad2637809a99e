"""Corrections, worked by hand."""

from math import inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grpo_ref.corrections import (
    early_stop,
    future_kl,
    indicator,
    masked,
    off_policy_mask,
    off_policy_mask_since_update,
    prefix_ratio,
    rejection,
    second_moment_mask,
    top_entropy,
    truncated,
    unlikely_under_reference,
    without_outliers,
)
from grpo_ref.levels import sequence_mean_level, sequence_sum_level

LOG2 = log(2.0)
OLD, ROLLOUT = [[[log(0.5), log(0.9), 0.0]]], [[[log(0.25), log(0.1), -5.0]]]
"""Ratios 2 and 9, and padding."""
PRESENT = [[[1, 1, 0]]]
WEIGHTS = {
    "truncated by token": (truncated, {}, [2, 3]),
    "truncated from below": (truncated, {"min_ratio": 2.5}, [2.5, 3]),
    "masked by token: the value is kept inside": (masked, {}, [2, 0]),
    "masked below": (masked, {"min_ratio": 2.5, "max_ratio": 10.0}, [0, 9]),
    "an indicator": (indicator, {}, [1, 0]),
    "the product": (truncated, {"level": sequence_sum_level, "max_ratio": 100.0}, [18, 18]),
    "the geometric mean": (truncated, {"level": sequence_mean_level, "max_ratio": 100.0}, [sqrt(18)] * 2),
    "the product is outside": (masked, {"level": sequence_sum_level}, [0, 0]),
    "a limit after the level": (truncated, {"max_ratio": inf, "max_log_ratio": LOG2}, [2, 2]),
    "a limit before the level": (
        truncated,
        {"level": sequence_sum_level, "max_ratio": inf, "max_token_log_ratio": LOG2},
        [4, 4],
    ),
}


@pytest.mark.parametrize(("kernel", "settings", "weights"), WEIGHTS.values(), ids=WEIGHTS)
def test_the_samplers_mismatch(kernel, settings, weights, asarray):
    got = kernel(asarray(OLD), asarray(ROLLOUT), asarray(PRESENT), **settings)
    asarray.check(got[..., :2], [[weights]])


def test_a_sampler_that_reports_nothing_is_taken_at_its_word(asarray):
    got = truncated(asarray([[[-1.0]]]), asarray([[[np.nan]]]), asarray([[[1]]]))
    asarray.check(got, [[[1.0]]])
    with pytest.raises(ValueError, match="expected 0 <= min_ratio <= max_ratio, got 3 and 2"):
        masked(asarray(OLD), asarray(ROLLOUT), asarray(PRESENT), min_ratio=3, max_ratio=2)


def test_stale_bad_completions_are_left_out(asarray):
    """The policy moved away by 0.3 per token on average; good completions stay."""
    new, rollout = asarray([[[-1.5, -1.1], [-1.5, -1.1]]]), asarray([[[-1.0, -1.0], [-1.0, -1.0]]])
    advantages, mask = asarray([[[-1, -1], [1, 1]]]), asarray([[[1, 1], [1, 1]]])
    asarray.check(off_policy_mask(new, rollout, advantages, mask, threshold=0.25), [[[0, 0], [1, 1]]])
    asarray.check(off_policy_mask(new, rollout, advantages, mask, threshold=0.35), [[[1, 1], [1, 1]]])


def test_a_token_that_the_sampler_did_not_score_is_no_evidence_of_a_move(asarray):
    """One token of two moved by 0.3 and nothing is known of the other: 0.15 on average."""
    new, rollout = asarray([[[-1.3, -1.0]]]), asarray([[[-1.0, np.nan]]])
    advantages, mask = asarray([[[-1, -1]]]), asarray([[[1, 1]]])
    asarray.check(off_policy_mask(new, rollout, advantages, mask, threshold=0.2), [[[1, 1]]])
    asarray.check(off_policy_mask(new, rollout, advantages, mask, threshold=0.1), [[[0, 0]]])
    got = off_policy_mask(new, rollout, advantages, mask, threshold=0.2, unknown=1.0)
    asarray.check(got, [[[0, 0]]])


def test_a_completion_with_an_unscored_token_is_dropped_or_kept(asarray):
    """TRL before 1.11 compares NaN with the threshold in one direction, ms-swift in the other."""
    new, rollout = asarray([[[-1.3, -1.0]]]), asarray([[[-1.0, np.nan]]])
    bad, mask = asarray([[[-1, -1]]]), asarray([[[1, 1]]])
    asarray.check(off_policy_mask(new, rollout, bad, mask, threshold=9.0, unknown=np.nan), [[[0, 0]]])
    asarray.check(off_policy_mask(new, rollout, bad, mask, threshold=0.0, unknown=-inf), [[[1, 1]]])


def test_a_bad_completion_that_became_less_likely_during_the_update_is_dropped(asarray):
    """log πold - log πθ is 0.3 and -0.1, a mean of 0.1 per token."""
    new, old, mask = asarray([[[-0.8, -0.4]]]), asarray([[[-0.5, -0.5]]]), asarray([[[1, 1]]])
    for advantage, threshold, kept in ((-1.0, 0.05, 0), (-1.0, 0.15, 1), (1.0, 0.05, 1)):
        advantages = asarray([[[advantage, advantage]]])
        got = off_policy_mask_since_update(new, old, advantages, mask, threshold=threshold)
        asarray.check(got, [[[kept, kept]]])


# ratios 2 and 1/4 in the first completion, 1 (and padding) in the second
LEARNER = [[[log(0.5), log(0.1)], [log(0.3), 0.0]]]
SAMPLER = [[[log(0.25), log(0.4)], [log(0.3), -9.0]]]
LENGTHS = [[[1, 1], [1, 0]]]
REJECTIONS = {
    # the four levels of a rejection, with the same bounds 0.4 <= ρ <= 1.5
    "token: 2 and 1/4 are outside": (indicator, {"min_ratio": 0.4, "max_ratio": 1.5}, [0, 0], [1]),
    "sequence: the product is 1/2": (
        indicator,
        {"level": sequence_sum_level, "min_ratio": 0.4, "max_ratio": 1.5},
        [1, 1],
        [1],
    ),
    "geometric: the mean is 1/√2": (
        indicator,
        {"level": sequence_mean_level, "min_ratio": 0.4, "max_ratio": 0.8},
        [1, 1],
        [0],
    ),
    "maximum: 2 is outside": (without_outliers, {"max_ratio": 1.5}, [0, 0], [1]),
    "minimum, a veto: 1/4 is outside": (without_outliers, {"min_ratio": 0.3}, [0, 0], [1]),
    "both are inside": (without_outliers, {"min_ratio": 0.25, "max_ratio": 2.0}, [1, 1], [1]),
    # log-ratios log 2 and -2 log 2, so v is -log 2 and 2 log 2
    "k1 of a token": (rejection, {"low": -1.0, "high": 1.0}, [1, 0], [1]),
    "k1, mean: log(2) / 2": (rejection, {"over": "mean", "low": 0.34, "high": 0.35}, [1, 1], [0]),
    "k1, sum: log 2": (rejection, {"over": "sum", "low": 0.69, "high": 0.70}, [1, 1], [0]),
    "k2 of a token: log(2)²/2 is 0.240": (rejection, {"estimator": "k2", "high": 0.25}, [1, 0], [1]),
    "k2, maximum: 2 log(2)² is 0.961": (
        rejection,
        {"estimator": "k2", "over": "max", "high": 0.96},
        [0, 0],
        [1],
    ),
    "k3: 2 - 1 - log 2 is 0.307, 1/4 - 1 + 2 log 2 is 0.636": (
        rejection,
        {"estimator": "k3", "high": 0.5},
        [1, 0],
        [1],
    ),
    "k3, mean: 0.472": (rejection, {"estimator": "k3", "over": "mean", "high": 0.47}, [0, 0], [1]),
    "a limit of log 2 on v": (rejection, {"high": 0.7, "max_log_ratio": LOG2}, [1, 1], [1]),
}


@pytest.mark.parametrize(("kernel", "settings", "first", "second"), REJECTIONS.values(), ids=REJECTIONS)
def test_a_rejection_drops_what_is_far_from_the_sampler(kernel, settings, first, second, asarray):
    got = kernel(asarray(LEARNER), asarray(SAMPLER), asarray(LENGTHS), **settings)
    asarray.check(got[0, 0, ...], first)
    asarray.check(got[0, 1, :1], second)


def test_an_unknown_estimator_or_range_is_named():
    fields = np.zeros((3, 1, 1, 1))
    with pytest.raises(ValueError, match="estimator: expected 'k1', 'k2' or 'k3', got 'k4'"):
        rejection(*fields, estimator="k4")
    with pytest.raises(ValueError, match="over: expected 'token', 'sum', 'mean' or 'max', got 'group'"):
        rejection(*fields, over="group")


NORMALIZED = {
    "over tokens: limited at 3/2, the mean of 3/2, 1/4 and 1 is 11/12": (
        truncated,
        {"max_ratio": 1.5},
        [18 / 11, 3 / 11],
        [12 / 11],
    ),
    "over completions: 1/2 and 1 have the mean 3/4": (
        truncated,
        {"level": sequence_sum_level},
        [2 / 3, 2 / 3],
        [4 / 3],
    ),
    "a weight of 0 counts: 0, 1/4 and 1 have the mean 5/12": (masked, {"max_ratio": 1.5}, [0, 0.6], [2.4]),
    "all weights 0 stay 0": (masked, {"min_ratio": 5.0, "max_ratio": 6.0}, [0, 0], [0]),
}


@pytest.mark.parametrize(("kernel", "settings", "first", "second"), NORMALIZED.values(), ids=NORMALIZED)
def test_weights_are_divided_by_their_mean(kernel, settings, first, second, asarray):
    got = kernel(asarray(LEARNER), asarray(SAMPLER), asarray(LENGTHS), batch_normalize=True, **settings)
    asarray.check(got[0, 0, ...], first)
    asarray.check(got[0, 1, :1], second)


def test_the_furthest_tokens_go_until_the_mean_square_is_small(asarray):
    """Squares 4, 1 and 1/4: without the first the mean is 5/8, the last alone has 1/4."""
    old, rollout = asarray([[[2.0, -1.0, 0.5, 9.0]]]), asarray([[[0.0, 0.0, 0.0, 0.0]]])
    mask = asarray([[[1, 1, 1, 0]]])
    asarray.check(second_moment_mask(old, rollout, mask, threshold=2.0), [[[1, 1, 1, 0]]])
    asarray.check(second_moment_mask(old, rollout, mask, threshold=0.7), [[[0, 1, 1, 0]]])
    asarray.check(second_moment_mask(old, rollout, mask, threshold=0.6), [[[0, 0, 1, 0]]])
    asarray.check(second_moment_mask(old, rollout, mask, threshold=0.01), [[[0, 0, 1, 0]]])
    rescaled = second_moment_mask(old, rollout, mask, threshold=0.7, rescale=True)
    asarray.check(rescaled, [[[0, 1.5, 1.5, 0]]])
    with pytest.raises(ValueError, match="threshold: expected a number > 0, got 0"):
        second_moment_mask(old, rollout, mask, threshold=0.0)


# ratios 2, 1/4, a hole, 3: products 2, 1/2 and 3/2; 3 times the smallest before it is 3/4
PREFIXES = {
    "the product so far": ({}, [2, 0.5, 1.5]),
    "the ratio times the smallest one before": ({"minimum": True}, [2, 0.5, 0.75]),
    "at most 1": ({"max_ratio": 1.0}, [1, 0.5, 1]),
    "each ratio at most 2 and at least 1/2": ({"max_log_ratio": LOG2}, [2, 1, 2]),
}


@pytest.mark.parametrize(("settings", "expected"), PREFIXES.values(), ids=PREFIXES)
def test_a_prefix_ratio(settings, expected, asarray):
    ratios = asarray([[[LOG2, -2 * LOG2, 5.0, log(3.0)]]])
    got = prefix_ratio(ratios, asarray([[[0.0] * 4]]), asarray([[[1, 1, 0, 1]]]), **settings)
    asarray.check(got[0, 0, :2], expected[:2])
    asarray.check(got[0, 0, 3:], expected[2:])


def test_a_product_of_prefixes_is_the_unbiased_weight():
    """Two tokens of two symbols: the weighted mean under the sampler is the mean under the learner.

    f = 1 if the first token is 0, which both policies choose with other probabilities, 0.5 and 0.2.
    """
    learner, sampler = np.array([[0.5, 0.5], [0.7, 0.3]]), np.array([[0.2, 0.8], [0.6, 0.4]])
    places, texts = np.arange(2), np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    old, rollout = np.log(learner[places, texts]), np.log(sampler[places, texts])
    weights = prefix_ratio(old[None], rollout[None], np.ones((1, 4, 2)))[0]
    probability = np.exp(rollout.sum(-1))
    is_zero = texts[:, 0] == 0
    np.testing.assert_allclose(probability @ (weights * is_zero[:, None]), [0.5, 0.5], rtol=1e-14)


# log-ratios 0.1 and 0.2, a half-life of one place: 0.1 + 0.2/2 and 0.2
FUTURES = {
    "no limits": (1.0, {"width": None}, [0.2, 0.2]),
    "at most 1.1": (1.0, {"width": 0.1}, [log(1.1), log(1.1)]),
    "a bad token above the safe ratio of 1.2 (e^0.2 is 1.22): at most 1": (
        -1.0,
        {"width": None, "safe_ratio": 1.2},
        [0.2, 0.0],
    ),
    "a good token above it": (1.0, {"width": None, "safe_ratio": 1.2}, [0.2, 0.2]),
    "ratios above 1.2 are not counted": (1.0, {"width": None, "max_ratio": 1.2}, [0.1, 0.0]),
}


@pytest.mark.parametrize(("advantage", "settings", "logarithms"), FUTURES.values(), ids=FUTURES)
def test_a_token_is_weighted_by_the_change_after_it(advantage, settings, logarithms, asarray):
    new, old, mask = asarray([[[0.1, 0.2, 9.0]]]), asarray([[[0.0, 0.0, 0.0]]]), asarray([[[1, 1, 0]]])
    advantages = asarray([[[advantage] * 3]])
    got = future_kl(new, old, new, advantages, mask, half_life=1.0, **settings)
    asarray.check(got[..., :2], np.exp([[logarithms]]))


def test_a_future_that_has_become_less_likely_weighs_1_or_less(asarray):
    """e^-1 is below both lower bounds."""
    new, zero, one = asarray([[[-1.0]]]), asarray([[[0.0]]]), asarray([[[1]]])
    asarray.check(future_kl(new, zero, new, one, one), [[[1.0]]])
    asarray.check(future_kl(new, zero, new, one, one, high_only=False), [[[0.8]]])


def test_a_place_that_is_a_whole_number_is_one(asarray):
    """Of n tokens the 0.3 quantile is at 0.3 (n - 1) in their order: 3, 6, 9, ... for 11, 21, 31, ..."""
    for place in range(3, 16, 3):
        tokens = 10 * place // 3 + 1
        entropies = asarray(np.arange(float(tokens)).reshape(1, 1, tokens))
        kept = top_entropy(entropies, asarray(np.ones((1, 1, tokens))), share=0.7)
        asarray.check(kept, (np.arange(tokens) >= place).astype(float).reshape(1, 1, tokens))


def test_the_most_undecided_tokens(asarray):
    """Entropies 1 2 3 4: the median is 2.5, the 0.8 quantile 3.4."""
    entropies, mask = asarray([[[1, 3, 99], [4, 2, 99]]]), asarray([[[1, 1, 0], [1, 1, 0]]])
    asarray.check(top_entropy(entropies, mask, share=0.5), [[[0, 1, 0], [1, 0, 0]]])
    asarray.check(top_entropy(entropies, mask, share=0.2), [[[0, 0, 0], [1, 0, 0]]])
    asarray.check(top_entropy(entropies, mask, share=1.0), [[[1, 1, 0], [1, 1, 0]]])
    asarray.check(top_entropy(entropies, asarray(np.zeros((1, 2, 3)))), np.zeros((1, 2, 3)))
    with pytest.raises(ValueError, match="share: expected 0 < share <= 1"):
        top_entropy(entropies, mask, share=0.0)


def test_a_mismatch_beyond_all_numbers_is_masked_and_truncated():
    """e⁸⁰⁰ is infinite in float64; 0 times it would be NaN, and NaN a loss."""
    old, rollout, mask = np.array([[[0.0, -1.0]]]), np.array([[[-800.0, -1.0]]]), np.ones((1, 1, 2))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(masked(old, rollout, mask), [[[0.0, 1.0]]])
        np.testing.assert_array_equal(masked(old, rollout, mask, level=sequence_sum_level), [[[0.0, 0.0]]])
        np.testing.assert_array_equal(truncated(old, rollout, mask, max_ratio=2.0), [[[2.0, 1.0]]])


def test_a_batch_is_given_up(asarray):
    log_ratio, mask = asarray([[[log(9.0), log(3.0), 50.0]]]), asarray([[[1, 1, 0]]])
    asarray.check(early_stop(log_ratio, mask, max_ratio=6.01), [[[1, 1, 1]]])
    asarray.check(early_stop(log_ratio, mask, max_ratio=5.99), [[[0, 0, 0]]])


def test_what_the_reference_finds_likely_counts_less(asarray):
    asarray.check(unlikely_under_reference(asarray([[[log(0.75), 0.0]]])), [[[0.25, 0.0]]])


SHAPE = (2, 3, 4)
RATIOS = hnp.arrays(np.float64, SHAPE, elements=st.floats(-2.0, 2.0, width=16))
ONES = np.ones(SHAPE)


@given(RATIOS, RATIOS)
def test_without_a_cap_truncation_is_importance_sampling(old, rollout):
    ratio = np.exp(old - rollout)
    np.testing.assert_allclose(truncated(old, rollout, ONES, max_ratio=inf), ratio, rtol=1e-13)
    np.testing.assert_allclose(masked(old, rollout, ONES, max_ratio=inf), ratio, rtol=1e-13)
    np.testing.assert_array_equal(indicator(old, rollout, ONES, max_ratio=inf), ONES)
    np.testing.assert_array_equal(truncated(old, old, ONES, level=sequence_sum_level), ONES)
