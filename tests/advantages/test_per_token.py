"""Advantages per token, worked by hand."""

from math import sqrt

import numpy as np
import pytest

from grpo_ref.advantages import discounted, normalized_twice, step_suffix_sums, whitened

THREE_AND_ONE = [[[1, 1, 1], [1, 0, 0]]]


def test_whitening_counts_tokens(asarray):
    """Centered 1/2 and -1/2 on three tokens and one: mean 1/4, variance (ddof 0) 3/16, std sqrt(3)/4."""
    got = whitened(asarray([[1, 0]]), asarray(THREE_AND_ONE), ddof=0, eps=0.0)
    asarray.check(got, [[[1 / sqrt(3)] * 3, [-3 / sqrt(3), 0, 0]]])
    one = whitened(asarray([[1, 0]]), asarray(THREE_AND_ONE), ddof=1, eps=0.0)
    asarray.check(one, [[[0.5] * 3, [-1.5, 0, 0]]])
    asarray.check(whitened(asarray([[1, 1]]), asarray(THREE_AND_ONE), eps=0.0), [[[0] * 3, [0] * 3]])


def test_whitening_may_keep_groups_of_one(asarray):
    """Without a baseline, 1 and 0 on one token each: mean 1/2, variance (ddof 0) 1/4."""
    one_each = asarray([[[1]], [[1]]])
    asarray.check(whitened(asarray([[1], [0]]), one_each, ddof=0, eps=0.0), [[[0]], [[0]]])
    kept = whitened(asarray([[1], [0]]), one_each, ddof=0, eps=0.0, keep_singletons=True)
    asarray.check(kept, [[[1]], [[-1]]])


def test_discounting_runs_back_from_the_last_token(asarray):
    """Rewards 4 and 2, gamma 1/2: tokens 1 2 4 and 2; mean 9/4, variance (ddof 0) 25/4 - 81/16 = 19/16."""
    got = discounted(asarray([[4, 2]]), asarray(THREE_AND_ONE), gamma=0.5, ddof=0, eps=0.0)
    std = sqrt(19) / 4
    asarray.check(got, [[[-1.25 / std, -0.25 / std, 1.75 / std], [-0.25 / std, 0, 0]]])
    with pytest.raises(ValueError, match="gamma: expected 0 <= gamma <= 1"):
        discounted(asarray([[4, 2]]), asarray(THREE_AND_ONE), gamma=1.5)


def test_normalized_twice(asarray):
    """plus and minus 1 in the group; on three tokens and one: mean 1/2, std (ddof 0) sqrt(3)/2."""
    got = normalized_twice(asarray([[1, 0]]), asarray(THREE_AND_ONE), ddof=0, eps=0.0, token_eps=0.0)
    asarray.check(got, [[[1 / sqrt(3)] * 3, [-3 / sqrt(3), 0, 0]]])


def test_step_rewards_are_summed_from_the_token_on(asarray):
    """Steps of reward 1 and 3, and of 2: mean 2, std (ddof 0) sqrt(2/3); scores -s, s and 0."""
    rewards, ends = asarray([[[0, 1, 3, 9], [2, 9, 9, 9]]]), asarray([[[0, 1, 1, 0], [1, 0, 0, 0]]])
    s = 1 / sqrt(2 / 3)
    got = step_suffix_sums(rewards, ends, ddof=0, eps=0.0)
    asarray.check(got, [[[0, 0, s, 0], [0, 0, 0, 0]]])
    asarray.check(step_suffix_sums(rewards, asarray(np.zeros((1, 2, 4)))), np.zeros((1, 2, 4)))
