"""Metrics, worked by hand, in every library and precision."""

import numpy as np
import pytest

from grpo_ref import clipped, reinforce
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
)

LOG2 = np.log(2.0)
MASK = [[[1, 1, 0], [1, 1, 1]]]


def test_clip_fractions_know_the_sign(asarray):
    """Five tokens: 1.5 with A > 0 is held high, 0.5 with A < 0 low; the other way round they train."""
    log_ratio = asarray(np.log([[[1.5, 0.5, 9.0], [1.5, 0.5, 1.0]]]))
    advantages = asarray([[[1, 1, 1], [-1, -1, 0]]])
    low, high = clip_fractions(clipped(log_ratio, advantages), log_ratio, advantages, asarray(MASK))
    asarray.check(low, 0.2)
    asarray.check(high, 0.2)


def test_nothing_is_clipped_without_a_ratio(asarray):
    log_probs, advantages = (
        asarray([[[-1.0, -2.0, 0.0], [-1.0, -1.0, -1.0]]]),
        asarray([[[1, 1, 1], [-1, -1, 0]]]),
    )
    low, high = clip_fractions(reinforce(log_probs, advantages), log_probs, advantages, asarray(MASK))
    asarray.check(low, 0.0)
    asarray.check(high, 0.0)


def test_approx_kl(asarray):
    """Ratios 2 and 1/2: (2 - 1 - log 2) and (1/2 - 1 + log 2) add up to 1/2, over five tokens."""
    asarray.check(approx_kl(asarray([[[LOG2, -LOG2, np.nan], [0, 0, 0]]]), asarray(MASK)), 0.1)


ENTROPIES = {
    "uniform over two": ([0.5, 0.5], LOG2),
    "certain, with banned tokens": ([1.0, 0.0], 0.0),
    "a half and two quarters: 3/2 bits": ([0.5, 0.25, 0.25], 1.5 * LOG2),
}


@pytest.mark.parametrize(("probs", "expected"), ENTROPIES.values(), ids=ENTROPIES)
def test_entropy(probs, expected, asarray):
    with np.errstate(divide="ignore"):
        log_probs = np.log(probs)
    asarray.check(entropy(asarray(log_probs)), expected)


def test_mean_entropy_and_length(asarray):
    asarray.check(mean_entropy(asarray([[[1, 2, 9], [3, 4, 5]]]), asarray(MASK)), 3.0)
    asarray.check(mean_length(asarray(MASK)), 2.5)


def test_dead_groups(asarray):
    asarray.check(dead_group_fraction(asarray([[1, 1], [0, 1], [0, 0], [0, 0]])), 0.75)


SIZES = {
    "on policy, all count": ([0, 0], [1, 1], 1.0),
    "weights 3 and 1: 16 / (2 * 10)": ([np.log(3), 0], [1, 1], 0.8),
    "one has all the weight": ([50, 0], [1, 1], 0.5),
    "ratios too large for exp are compared all the same": ([2000, 2000], [1, 1], 1.0),
    "padding does not count": ([0, 700], [1, 0], 1.0),
    "no token at all": ([0, 0], [0, 0], 0.0),
}


@pytest.mark.parametrize(("log_ratio", "mask", "expected"), SIZES.values(), ids=SIZES)
def test_effective_sample_size(log_ratio, mask, expected, asarray):
    asarray.check(effective_sample_size(asarray([[log_ratio]]), asarray([[mask]])), expected)


def test_ratio_extremes(asarray):
    lowest, highest = ratio_extremes(asarray(np.log([[[0.5, 2.0, 9.0], [1.0, 1.0, 3.0]]])), asarray(MASK))
    asarray.check(lowest, 0.5)
    asarray.check(highest, 3.0)
    for extreme in ratio_extremes(asarray([[[7.0]]]), asarray([[[0]]])):
        asarray.check(extreme, 1.0)


BIGRAMS = {
    "ab ba ab: two different of three": ([[0, 1, 0, 1]], [[1, 1, 1, 1]], 2 / 3),
    "a bigram does not reach over the end": ([[0, 1, 0, 1]], [[1, 1, 0, 0]], 1.0),
    "nor into the next completion": ([[0, 1], [1, 0]], [[1, 1], [1, 1]], 1.0),
    "two equal completions": ([[0, 1], [0, 1]], [[1, 1], [1, 1]], 0.5),
    "too short for any": ([[0, 1]], [[1, 0]], 0.0),
}


@pytest.mark.parametrize(("tokens", "mask", "expected"), BIGRAMS.values(), ids=BIGRAMS)
def test_distinct_ngrams(tokens, mask, expected, asarray):
    tokens = asarray.xp.asarray(np.array([tokens]))
    got = distinct_ngrams(tokens, asarray(np.array([mask]) == 1), n=2, vocabulary=3)
    np.testing.assert_allclose(float(got), expected, rtol=1e-15)


def test_distinct_ngrams_of_one_token_completions():
    assert distinct_ngrams(np.zeros((1, 2, 1), dtype=int), np.ones((1, 2, 1)), n=2, vocabulary=3) == 0.0


@pytest.mark.parametrize("kernel", [approx_kl, effective_sample_size, lambda x, m: ratio_extremes(x, m)[0]])
def test_runs_are_independent(kernel):
    log_ratio = np.random.default_rng(0).normal(size=(4, 2, 3, 5))
    mask = np.random.default_rng(1).random((4, 2, 3, 5)) < 0.7
    np.testing.assert_allclose(
        kernel(log_ratio, mask), [kernel(*run) for run in zip(log_ratio, mask, strict=True)], rtol=1e-13
    )
