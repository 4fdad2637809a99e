"""Advantages from the group alone: hand-worked groups, in every library and precision."""

from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grpo_ref import group_normalized
from grpo_ref.advantages import (
    best_of_group,
    greedy_baseline,
    group_centered,
    leave_one_out,
    length_weighted,
    mean_scaled,
    normal_scores,
    normalized_then_summed,
    ranked,
    raw_rewards,
)

ROOT2, ROOT3 = np.sqrt(2.0), np.sqrt(3.0)
NORMALIZED = {
    # rewards, settings, advantages
    "one of two is right: std (ddof 1) is 1/√2": ([[1, 0]], {"eps": 0.0}, [[1 / ROOT2, -1 / ROOT2]]),
    "one of two is right: std (ddof 0) is 1/2, so ±1": ([[1, 0]], {"ddof": 0, "eps": 0.0}, [[1, -1]]),
    "one of four: mean 1/4, std (ddof 0) √3/4": (
        [[1, 0, 0, 0]],
        {"ddof": 0, "eps": 0.0},
        [[ROOT3, -1 / ROOT3, -1 / ROOT3, -1 / ROOT3]],
    ),
    "eps is added to the std, not to the variance": ([[1, 0]], {"ddof": 0, "eps": 0.5}, [[0.5, -0.5]]),
    "groups do not mix": ([[1, 0], [5, 3]], {"ddof": 0, "eps": 0.0}, [[1, -1], [1, -1]]),
    "the default eps is TRL's": ([[1, 0]], {"ddof": 0}, [[0.5 / 0.5001, -0.5 / 0.5001]]),
    "equal rewards: 0, and no 0/0": ([[0.1, 0.1, 0.1]], {"eps": 0.0}, [[0, 0, 0]]),
    "one of three: std (ddof 1) is √((4/9 + 1/9 + 1/9) / 2) = 1/√3": (
        [[1, 0, 0]],
        {"eps": 0.0},
        [[2 / ROOT3, -1 / ROOT3, -1 / ROOT3]],
    ),
    "a group of one": ([[3.0], [5.0]], {}, [[0], [0]]),
    "a group of one, as verl has it: mean 0, std 1": (
        [[3.0]],
        {"keep_singletons": True, "eps": 0.5},
        [[2.0]],
    ),
    "that is asked of groups of one only": (
        [[1, 0]],
        {"keep_singletons": True, "ddof": 0, "eps": 0.0},
        [[1, -1]],
    ),
}


@pytest.mark.parametrize(("rewards", "settings", "expected"), NORMALIZED.values(), ids=NORMALIZED)
def test_group_normalized(rewards, settings, expected, asarray):
    asarray.check(group_normalized(asarray(rewards), **settings), expected)


OTHERS = {
    "centered: mean 1/4": (group_centered, [[1, 0, 0, 0]], {}, [[0.75, -0.25, -0.25, -0.25]]),
    "centered: equal rewards": (group_centered, [[0.1, 0.1, 0.1]], {}, [[0, 0, 0]]),
    "centered: alone": (group_centered, [[2.0]], {}, [[0]]),
    "raw": (raw_rewards, [[1, 0.5]], {}, [[1, 0.5]]),
    "leave one out: the others of the winner have mean 0": (
        leave_one_out,
        [[1, 0, 0]],
        {},
        [[1, -0.5, -0.5]],
    ),
    "leave one out: equal rewards": (leave_one_out, [[0.1, 0.1, 0.1]], {}, [[0, 0, 0]]),
    "leave one out: alone": (leave_one_out, [[2.0]], {}, [[0]]),
    "leave one out: alone, as verl has it": (leave_one_out, [[2.0]], {"keep_singletons": True}, [[2.0]]),
    "mean scaled: one of four is right, G/K - 1 = 3 and -1": (
        mean_scaled,
        [[1, 0, 0, 0]],
        {"eps": 0.0},
        [[3, -1, -1, -1]],
    ),
    "mean scaled: three of four are right": (mean_scaled, [[1, 1, 1, 0]], {"eps": 0.0}, [[1 / 3] * 3 + [-1]]),
    "mean scaled: eps is added to the mean, 1/4 + 1/4": (
        mean_scaled,
        [[1, 0, 0, 0]],
        {"eps": 0.25},
        [[1.5, -0.5, -0.5, -0.5]],
    ),
    "mean scaled: none is right": (mean_scaled, [[0, 0]], {"eps": 0.0}, [[0, 0]]),
    "mean scaled: equal rewards": (mean_scaled, [[0.1, 0.1, 0.1]], {}, [[0, 0, 0]]),
    "mean scaled: a negative mean, as prime-rl has it": (mean_scaled, [[-1, 0]], {"eps": 0.0}, [[0, 0]]),
    "mean scaled: (-1 + 1/2) / -1/2 and (0 + 1/2) / -1/2, as SkyRL has it": (
        mean_scaled,
        [[-1, 0]],
        {"eps": 0.0, "keep_negative": True},
        [[1, -1]],
    ),
    "mean scaled: alone": (mean_scaled, [[2.0]], {}, [[0]]),
    "mean scaled: alone, as SkyRL has it": (mean_scaled, [[2.0]], {"keep_singletons": True}, [[2.0]]),
    "ranked: the order counts alone": (ranked, [[0.1, 30.0, 0.2]], {}, [[-2, 2, 0]]),
    "ranked: the two best share ranks 1 and 2 of four": (
        ranked,
        [[5, 1, 5, 0]],
        {},
        [[4 / 3, -2 / 3, 4 / 3, -2]],
    ),
    "ranked: between -1 and 1": (ranked, [[0.1, 30.0, 0.2]], {"largest": 1.0}, [[-1, 1, 0]]),
    "normal scores: a quartile is 0.674 standard deviations off": (
        normal_scores,
        [[5.0, 1.0]],
        {},
        [[0.6744897501960817, -0.6744897501960817]],
    ),
    "normal scores: the two best share ranks 1 and 2 of four, quantile 3/4": (
        normal_scores,
        [[7.0, 7.0, 1.0, 0.0]],
        {},
        [[0.6744897501960817, 0.6744897501960817, -0.3186393639643752, -1.1503493803760083]],
    ),
    "normal scores: equal rewards": (normal_scores, [[0.1, 0.1]], {}, [[0, 0]]),
    "ranked: equal rewards": (ranked, [[0.1, 0.1]], {}, [[0, 0]]),
    "ranked: alone": (ranked, [[3.0]], {}, [[0]]),
    "best of group: the lead 3 - 1 over the std (ddof 0) of 3 1": (
        best_of_group,
        [[3, 1]],
        {"ddof": 0, "eps": 0.0},
        [[2, 0]],
    ),
    "best of group: the lead 6 - 2 over the std 2 and eps 0.5": (
        best_of_group,
        [[2, 6]],
        {"ddof": 0, "eps": 0.5},
        [[0, 1.6]],
    ),
    "best of group: by default ddof is 1 and eps 1e-6, and 2 1 0 have std 1": (
        best_of_group,
        [[0, 2, 1]],
        {},
        [[0, 1 / 1.000001, 0]],
    ),
    "best of group: the lead itself": (best_of_group, [[1, 4, 2]], {"scale": False}, [[0, 2, 0]]),
    "centered: a group of one has mean 0": (group_centered, [[3]], {"keep_singletons": True}, [[3]]),
    "best of group: a tie leads by nothing": (best_of_group, [[1, 1, 0]], {}, [[0, 0, 0]]),
    "best of group: equal rewards, and no 0/0": (best_of_group, [[1, 1]], {"eps": 0.0}, [[0, 0]]),
}


@pytest.mark.parametrize(("kernel", "rewards", "settings", "expected"), OTHERS.values(), ids=OTHERS)
def test_other_advantages(kernel, rewards, settings, expected, asarray):
    asarray.check(kernel(asarray(rewards), **settings), expected)


def test_a_lead_needs_two():
    with pytest.raises(ValueError, match=r"groups of at least 2, got shape \(3, 1\)"):
        best_of_group(np.zeros((3, 1)))


def test_a_list_is_told_to_become_an_array():
    with pytest.raises(TypeError, match="expected arrays, got a list or tuple; use numpy"):
        group_normalized([[1.0, 0.0]])


def test_the_length_weighted_baseline(asarray):
    """Rewards 1 and 0 of lengths 3 and 1: baseline 3/4; an empty completion has no say."""
    asarray.check(length_weighted(asarray([[1, 0]]), asarray([[3, 1]])), [[0.25, -0.75]])
    asarray.check(length_weighted(asarray([[1, 5]]), asarray([[2, 0]])), [[0, 4]])
    asarray.check(length_weighted(asarray([[1, 5]]), asarray([[0, 0]])), [[1, 5]])
    asarray.check(length_weighted(asarray([[2.0]]), asarray([[3]])), [[2.0]])
    asarray.check(length_weighted(asarray([[2.0]]), asarray([[3]]), keep_singletons=False), [[0.0]])


@given(hnp.arrays(np.float64, (3, 4), elements=st.integers(0, 5).map(float)))
def test_advantages_in_their_limits(rewards):
    one = normalized_then_summed(rewards[..., None], np.ones(1), whiten=False)
    np.testing.assert_allclose(one, group_normalized(rewards), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ranked(rewards), ranked(np.exp(rewards)), rtol=1e-12)
    np.testing.assert_allclose(ranked(-rewards), -ranked(rewards), rtol=1e-12)
    equal = np.full(rewards.shape, 7.0)
    np.testing.assert_allclose(
        length_weighted(rewards, equal), rewards - rewards.mean(-1, keepdims=True), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(
        leave_one_out(rewards), 4 / 3 * length_weighted(rewards, equal), rtol=1e-12, atol=1e-12
    )


def test_two_completions_are_plus_and_minus_one_with_the_population_std_alone():
    """std of 1 and 0 is 1/2 with ddof 0 and 1/sqrt(2) with ddof 1."""
    rewards = np.array([[1.0, 0.0], [0.3, 0.2]])
    np.testing.assert_allclose(group_normalized(rewards, ddof=0, eps=0.0), [[1, -1], [1, -1]], rtol=1e-12)
    np.testing.assert_allclose(
        group_normalized(rewards, ddof=1, eps=0.0), np.array([[1, -1], [1, -1]]) / sqrt(2.0), rtol=1e-12
    )


def test_mean_scaled_has_the_first_terms_of_the_logarithm():
    """d/dp Σ (1 - (1 - p)ᵏ) / k = Σ (1 - p)ᵏ⁻¹, for k = 1 to G - 1 with G = 4: 1 + 0.7 + 0.49.

    A completion is right with probability p = 0.3. Its score d log π / dp is 1/p if it is right, and
    -1/(1 - p) if not. The mean over all groups of four is exact: there are 16.
    """
    p = 0.3
    groups = np.array(list(product([0.0, 1.0], repeat=4)))
    probability = np.where(groups == 1.0, p, 1.0 - p).prod(-1)
    score = np.where(groups == 1.0, 1.0 / p, -1.0 / (1.0 - p))
    gradient = (mean_scaled(groups, eps=0.0) * score).mean(-1)
    np.testing.assert_allclose(probability @ gradient, 1.0 + 0.7 + 0.49, rtol=1e-12)
    with_every_group = np.where(groups.any(-1), gradient, -score.mean(-1))
    np.testing.assert_allclose(probability @ with_every_group, 1.0 + 0.7 + 0.49 + 0.343, rtol=1e-12)


def test_mean_scaled_refuses_a_negative_eps():
    with pytest.raises(ValueError, match=r"eps: expected a number >= 0, got -1\.0"):
        mean_scaled(np.ones((1, 2)), eps=-1.0)


def test_the_baseline_is_the_reward_of_the_greedy_completion(asarray):
    """The greedy completion of the first prompt is right and that of the second is wrong."""
    got = greedy_baseline(asarray([[1, 0], [1, 0]]), asarray([[1, 1], [0, 0]]))
    asarray.check(got, [[0, -1], [1, 0]])
