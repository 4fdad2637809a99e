"""Advantages per token, worked by hand."""

from math import sqrt

import numpy as np
import pytest

from grpo_ref.advantages import (
    discounted,
    normalized_twice,
    optimal_token_baseline,
    step_suffix_sums,
    whitened,
)

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


# rewards, squared norms, mask, settings -> advantages
BASELINES = {
    # W is 1, 2 and 3, 6; B is (1 · 4 + 3 · 0) / 4 = 1 and (2 · 4 + 6 · 0) / 8 = 1
    "the weights grow along the completion": (
        [[4, 0]],
        [[[1, 1], [3, 3]]],
        [[[1, 1], [1, 1]]],
        {"eps": 0.0},
        [[[3, 3], [-1, -1]]],
    ),
    # W is 1, 4 and 1, 2; B is (4 + 0) / 2 = 2 and (4 · 4 + 0) / 6 = 8/3
    "noise at the second token counts from there on": (
        [[4, 0]],
        [[[1, 3], [1, 1]]],
        [[[1, 1], [1, 1]]],
        {"eps": 0.0},
        [[[2, 4 / 3], [-2, -8 / 3]]],
    ),
    "where the longest is alone there is no baseline": (
        [[4, 0]],
        [[[1, 1], [1, 9]]],
        [[[1, 1], [1, 0]]],
        {"eps": 0.0},
        [[[2, 4], [-2, 0]]],
    ),
    "of two equally long, none is alone": (
        [[3, 0, 0]],
        [[[1, 1], [1, 1], [1, 9]]],
        [[[1, 1], [1, 1], [1, 0]]],
        {"eps": 0.0},
        [[[2, 1.5], [-1, -1.5], [-1, 0]]],
    ),
    "a group of one keeps its reward": ([[4]], [[[1, 1]]], [[[1, 0]]], {}, [[[4, 0]]]),
    # by place: the third place has W 2 and 3; B is 2, 4 (first alone in its place) and (2 · 4 + 3 · 0) / 5
    "a hole counts as a place": (
        [[4, 0]],
        [[[1, 9, 1], [1, 1, 1]]],
        [[[1, 0, 1], [1, 1, 1]]],
        {"eps": 0.0},
        [[[2, 0, 2.4], [-2, 0, 0]]],
    ),
    # by token: the second tokens have W 2 and 2; B is 2 and 2; the third token is alone
    "or not": (
        [[4, 0]],
        [[[1, 9, 1], [1, 1, 1]]],
        [[[1, 0, 1], [1, 1, 1]]],
        {"eps": 0.0, "skip_holes": True},
        [[[2, 0, 2], [-2, -2, 0]]],
    ),
    "an empty completion leaves the other alone": (
        [[4, 9]],
        [[[1, 1], [1, 1]]],
        [[[1, 1], [0, 0]]],
        {"skip_holes": True},
        [[[4, 4], [0, 0]]],
    ),
}


@pytest.mark.parametrize(
    ("rewards", "norms", "mask", "settings", "expected"), BASELINES.values(), ids=BASELINES
)
def test_the_optimal_token_baseline(rewards, norms, mask, settings, expected, asarray):
    got = optimal_token_baseline(asarray(rewards), asarray(norms), asarray(mask), **settings)
    asarray.check(got, expected)


def test_the_norms_of_the_scores_minimize_the_variance():
    """One token of three symbols with π = (1/2, 1/3, 1/6) and rewards 1, 0 and 3, logits as parameters.

    The variance of (r - b) ∂ log π / ∂ logits is E (r - b)² w - const, with w = 1 - 2 π + Σ π² the squared
    norm. Its minimum is b = E w r / E w. In a group of all outcomes, each as often as its probability (3, 2
    and 1 of six completions), the baseline is exactly that.
    """
    probs, rewards = np.array([1 / 2, 1 / 3, 1 / 6]), np.array([1.0, 0.0, 3.0])
    norms = 1.0 - 2.0 * probs + (probs**2).sum()
    tokens = np.array([0, 0, 0, 1, 1, 2])
    mask = np.ones((1, 6, 1))
    got = optimal_token_baseline(rewards[tokens][None], norms[tokens][None, :, None], mask, eps=0.0)
    scores = np.eye(3) - probs

    def variance(baseline):
        samples = (rewards - baseline)[:, None] * scores
        return (probs[:, None] * (samples - probs @ samples) ** 2).sum()

    best = rewards[0] - got[0, 0, 0]
    assert variance(best) < min(variance(best - 1e-3), variance(best + 1e-3))


def one_by_one(rewards, norms, mask, skip_holes):
    """The optimal token baseline of one group, token by token, as verl's two functions describe it."""
    size, length = mask.shape
    advantages = np.zeros((size, length))
    places = [
        {t: (mask[i, :t].sum() if skip_holes else t) for t in range(length) if mask[i, t]}
        for i in range(size)
    ]
    second = sorted(map(len, places))[-2]
    for i, own in enumerate(places):
        for t, place in own.items():
            energies = {
                j: sum(norms[j, s] for s in other if s <= now)
                for j, other in enumerate(places)
                for now, at in other.items()
                if at == place
            }
            alone = len(own) > second and place >= second
            total = sum(energies.values())
            baseline = 0.0 if alone else sum(w * rewards[j] for j, w in energies.items()) / total
            advantages[i, t] = rewards[i] - baseline
    return advantages


@pytest.mark.parametrize("skip_holes", [False, True])
def test_the_optimal_token_baseline_with_holes_is_that_of_a_loop(skip_holes):
    rng = np.random.default_rng(4)
    for _ in range(50):
        lengths, holes = rng.integers(0, 7, (3, 1)), rng.random((3, 6)) < 0.3
        mask = (np.arange(6) < lengths) & ~holes
        rewards, norms = rng.normal(size=3), rng.uniform(0.1, 1.5, (3, 6))
        got = optimal_token_baseline(rewards[None], norms[None], mask[None], eps=0.0, skip_holes=skip_holes)
        np.testing.assert_allclose(
            got[0], one_by_one(rewards, norms, mask, skip_holes), rtol=1e-12, atol=1e-14
        )
