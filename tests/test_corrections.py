"""Corrections, worked by hand."""

from math import inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grpo_ref.corrections import (
    early_stop,
    indicator,
    masked,
    off_policy_mask,
    top_entropy,
    truncated,
    unlikely_under_reference,
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
