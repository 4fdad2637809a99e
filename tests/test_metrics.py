"""Metrics, worked by hand, in every library and precision."""

import numpy as np
import pytest

from grpo_ref.metrics import (
    approx_kl,
    clip_fractions,
    dead_group_fraction,
    distinct_ngrams,
    effective_sample_size,
    entropy,
    mean_entropy,
    mean_length,
    ratio_extremes,
    reward_width,
)
from grpo_ref.surrogates import clipped, dual_clipped, reinforce
from grpo_ref.types import Term

LOG2 = np.log(2.0)
MASK = [[[1, 1, 0], [1, 1, 1]]]

# log-ratio, advantage, slope, direct -> low, high
HELD = {
    "held below": (-0.5, -1.0, 0.0, 0.0, 1, 0),
    "held above": (0.5, 1.0, 0.0, 0.0, 0, 1),
    "trains through the ratio": (0.5, 1.0, 2.0, 0.0, 0, 0),
    "trains through its log-probability": (-0.5, 1.0, 0.0, 2.0, 0, 0),
    "trains through both": (0.5, 1.0, 1.0, 1.0, 0, 0),
    "has no advantage that could be held": (0.5, 0.0, 0.0, 0.0, 0, 0),
    "at a ratio of 1 it is on neither side": (0.0, 1.0, 0.0, 0.0, 0, 0),
}


@pytest.mark.parametrize(
    ("log_ratio", "advantage", "slope", "direct", "low", "high"), HELD.values(), ids=HELD
)
def test_a_token_is_held(log_ratio, advantage, slope, direct, low, high, asarray):
    """Beside a token of padding, which is held on both sides if one looks at it."""
    log_ratio, mask = asarray([[[log_ratio, np.nan]]]), asarray([[[1, 0]]])
    term = Term(log_ratio, asarray([[[slope, 0]]]), asarray([[[direct, 0]]]))
    got = clip_fractions(term, log_ratio, asarray([[[advantage, np.nan]]]), mask)
    asarray.check(got[0], low)
    asarray.check(got[1], high)


def test_clip_fractions_know_the_sign(asarray):
    """Five tokens: 1.5 with A > 0 is held high, 0.5 with A < 0 low; the other way round they train."""
    log_ratio = asarray(np.log([[[1.5, 0.5, 9.0], [1.5, 0.5, 0.5]]]))
    advantages = asarray([[[1, 1, 1], [-1, -1, -1]]])
    low, high = clip_fractions(clipped(log_ratio, advantages), log_ratio, advantages, asarray(MASK))
    asarray.check(low, 0.4)
    asarray.check(high, 0.2)


def test_the_floor_of_the_dual_clip_holds_a_bad_token_high(asarray):
    log_ratio, advantages = asarray(np.log([[[5.0, 2.0]]])), asarray([[[-1.0, -1.0]]])
    term = dual_clipped(log_ratio, advantages, max_ratio=3.0)
    low, high = clip_fractions(term, log_ratio, advantages, asarray([[[1, 1]]]))
    asarray.check(low, 0.0)
    asarray.check(high, 0.5)


def test_nothing_is_clipped_without_a_ratio(asarray):
    log_probs, advantages = asarray([[[-1.0, -2.0]]]), asarray([[[1, -1]]])
    for share in clip_fractions(reinforce(log_probs, advantages), log_probs, advantages, asarray([[[1, 1]]])):
        asarray.check(share, 0.0)


@pytest.mark.parametrize("padding", [np.nan, 1e4])
def test_approx_kl(padding, asarray):
    """Ratios 2 and 4: (2 - 1 - log 2) + (4 - 1 - 2 log 2) over five tokens; exp of the padding overflows."""
    log_ratio = asarray([[[LOG2, 2 * LOG2, padding], [0, 0, 0]]])
    asarray.check(approx_kl(log_ratio, asarray(MASK)), (4 - 3 * LOG2) / 5)


ENTROPIES = {
    "uniform over two": ([0.5, 0.5], LOG2),
    "certain, with banned tokens": ([1.0, 0.0], 0.0),
    "a half and two quarters: 3/2 bits": ([0.5, 0.25, 0.25], 1.5 * LOG2),
    "each state its own": ([[0.5, 0.5], [1.0, 0.0]], [LOG2, 0.0]),
}


@pytest.mark.parametrize(("probs", "expected"), ENTROPIES.values(), ids=ENTROPIES)
def test_entropy(probs, expected, asarray):
    with np.errstate(divide="ignore"):
        log_probs = np.log(probs)
    asarray.check(entropy(asarray(log_probs)), expected)


def test_mean_entropy_and_length(asarray):
    asarray.check(mean_entropy(asarray([[[1, 2, np.nan], [3, 4, 5]]]), asarray(MASK)), 3.0)
    asarray.check(mean_length(asarray(MASK)), 2.5)
    assert float(mean_length(asarray(np.array(MASK) == 1))) == 2.5


DEAD = {
    "three of four agree": ([[1, 1], [0, 1], [0, 0], [0, 0]], 0.75),
    "0.1 three times is equal": ([[0.1, 0.1, 0.1]], 1.0),
    "a group of one is dead": ([[3.0]], 1.0),
}


@pytest.mark.parametrize(("rewards", "share"), DEAD.values(), ids=DEAD)
def test_dead_groups(rewards, share, asarray):
    asarray.check(dead_group_fraction(asarray(rewards)), share)


def test_dead_groups_of_whole_rewards(asarray):
    assert float(dead_group_fraction(asarray(np.array([[1, 1], [0, 1]])))) == 0.5


SIZES = {
    "on policy, all count": ([0, 0], [1, 1], 1.0),
    "weights 3 and 1: 16 / (2 * 10)": ([np.log(3), 0], [1, 1], 0.8),
    "one has all the weight": ([50, 0], [1, 1], 0.5),
    "ratios too large for exp are compared all the same": ([2000, 2000], [1, 1], 1.0),
    "and so are those too small for it": ([-2000, -2000], [1, 1], 1.0),
    "padding does not count": ([0, 700], [1, 0], 1.0),
    "not even where all else is large": ([2000, 9], [1, 0], 1.0),
    "nor does its NaN": ([np.nan, 0], [0, 1], 1.0),
    "no token at all": ([0, 0], [0, 0], 0.0),
}


@pytest.mark.parametrize(("log_ratio", "mask", "expected"), SIZES.values(), ids=SIZES)
def test_effective_sample_size(log_ratio, mask, expected, asarray):
    asarray.check(effective_sample_size(asarray([[log_ratio]]), asarray([[mask]])), expected)


@pytest.mark.parametrize("padding", [np.nan, -9.0, 9.0])
def test_ratio_extremes(padding, asarray):
    log_ratio = asarray([[[-LOG2, LOG2, padding], [0.0, 0.0, 2 * LOG2]]])
    lowest, highest = ratio_extremes(log_ratio, asarray(MASK))
    asarray.check(lowest, 0.5)
    asarray.check(highest, 4.0)


# metric -> what it says of a batch in which every completion is empty
EMPTY = {
    "approximate KL": (approx_kl, 0.0),
    "effective sample size": (effective_sample_size, 0.0),
    "mean entropy": (mean_entropy, 0.0),
    "lowest ratio": (lambda array, mask: ratio_extremes(array, mask)[0], 1.0),
    "highest ratio": (lambda array, mask: ratio_extremes(array, mask)[1], 1.0),
    "mean length": (lambda array, mask: mean_length(mask), 0.0),
    "clipped low": (lambda array, mask: clip_fractions(Term(array, array), array, array, mask)[0], 0.0),
    "clipped high": (lambda array, mask: clip_fractions(Term(array, array), array, array, mask)[1], 0.0),
}


@pytest.mark.parametrize(("metric", "expected"), EMPTY.values(), ids=EMPTY)
def test_a_batch_without_tokens(metric, expected, asarray):
    asarray.check(metric(asarray([[[np.nan, 7.0]]]), asarray([[[0, 0]]])), expected)


# tokens, mask, n -> share
NGRAMS = {
    "ab ba ab: two different of three": ([[0, 1, 0, 1]], [[1, 1, 1, 1]], 2, 2 / 3),
    "aa aa: one of two": ([[0, 0, 0]], [[1, 1, 1]], 2, 1 / 2),
    "ac and ba are two": ([[0, 2], [1, 0]], [[1, 1], [1, 1]], 2, 1.0),
    "a bigram does not reach over the end": ([[0, 1, 0, 1]], [[1, 1, 0, 0]], 2, 1.0),
    "nor into the next completion": ([[0, 1], [1, 0]], [[1, 1], [1, 1]], 2, 1.0),
    "two equal completions": ([[0, 1], [0, 1]], [[1, 1], [1, 1]], 2, 0.5),
    "too short for any": ([[0, 1]], [[1, 0]], 2, 0.0),
    "no room for any": ([[0, 1]], [[1, 1]], 3, 0.0),
    "single tokens a b a": ([[0, 1, 0]], [[1, 1, 1]], 1, 2 / 3),
    "abc bca cab abc: three of four": ([[0, 1, 2, 0, 1, 2]], [[1] * 6], 3, 3 / 4),
}


@pytest.mark.parametrize("dtype", [bool, float])
@pytest.mark.parametrize(("tokens", "mask", "n", "expected"), NGRAMS.values(), ids=NGRAMS)
def test_distinct_ngrams(tokens, mask, n, expected, dtype, asarray):
    """The shares are in float64 whatever the mask is."""
    mask = asarray(np.array([mask], dtype=dtype))
    got = distinct_ngrams(asarray(np.array([tokens])), mask, n=n, vocabulary=3)
    np.testing.assert_allclose(float(got), expected, rtol=1e-15)


def test_reward_width(asarray):
    asarray.check(reward_width(asarray([[0, 0], [2, 2]])), 1.0)
