"""DPPO: a divergence for a trust region, worked by hand."""

from functools import partial
from math import inf, log

import numpy as np
import pytest

from grpo_ref import RECIPES, policy_loss
from grpo_ref.surrogates import binary_kl, dppo_kl, dppo_top_kl, dppo_top_tv, dppo_tv

LOG2 = log(2.0)
DPPO_TV, DPPO_TOP_TV = RECIPES["dppo_tv"], RECIPES["dppo_top_tv"]
# p, q, advantage, threshold -> kept
MOVES = {
    "A > 0, moved up too far": (0.6, 0.4, 1.0, 0.15, False),
    "A > 0, moved down: moves back": (0.4, 0.6, 1.0, 0.15, True),
    "A < 0, moved down too far": (0.4, 0.6, -1.0, 0.15, False),
    "A < 0, moved up: moves back": (0.6, 0.4, -1.0, 0.15, True),
    "not far enough": (0.5, 0.4, 1.0, 0.15, True),
}


@pytest.mark.parametrize(("p", "q", "advantage", "threshold", "kept"), MOVES.values(), ids=MOVES)
def test_dppo_leaves_out_what_moved_too_far_where_the_advantage_points(
    p, q, advantage, threshold, kept, asarray
):
    arrays = asarray([log(p)]), asarray([log(q)]), asarray([advantage])
    weight = p / q * advantage if kept else 0.0
    term = dppo_tv(*arrays, low=threshold, high=threshold)
    asarray.check(term.direct, [weight])
    asarray.check(term.value, [weight * log(p)])
    far = q * log(q / p) + (1 - q) * log((1 - q) / (1 - p))
    near = dppo_kl(*arrays, low=far + 1e-3, high=far + 1e-3).direct
    asarray.check(near, [p / q * advantage])
    asarray.check(
        dppo_kl(*arrays, low=far - 1e-3, high=far - 1e-3).direct == 0.0,
        [abs(p - q) > 0 and (p > q) == (advantage > 0)],
    )
    asarray.check(binary_kl(arrays[0] - arrays[1], arrays[0]), [far])


# π, μ, πold -> kept; A = 1 and a threshold of 0.15 in probability
TWO_POLICIES = {
    "far from the sampler, at the old policy": (0.5, 0.3, 0.5, False),
    "at the sampler, far from the old policy": (0.5, 0.5, 0.3, True),
}


@pytest.mark.parametrize(("now", "sampler", "old", "kept"), TWO_POLICIES.values(), ids=TWO_POLICIES)
def test_the_recipes_compare_with_the_sampler_and_not_with_the_old_policy(now, sampler, old, kept):
    """The gradient of a kept token is minus its weight, the ratio to the sampler; TV is |π - μ|."""
    given = {"old_log_probs": [[[log(old)]]], "rollout_log_probs": [[[log(sampler)]]]}
    given |= {"top_log_probs": [[[[log(now)]]]], "top_rollout_log_probs": [[[[log(sampler)]]]]}
    given = {name: np.array(value) for name, value in given.items()}
    for recipe in (DPPO_TV, DPPO_TOP_TV):
        found = policy_loss(
            np.array([[[log(now)]]]), np.ones((1, 1)), np.ones((1, 1, 1)), recipe=recipe, **given
        )
        np.testing.assert_allclose(found.gradient, [[[-now / sampler if kept else 0.0]]], rtol=1e-14)


def test_dppos_weight_is_capped(asarray):
    term = dppo_tv(asarray([log(0.5)]), asarray([log(0.01)]), asarray([1.0]), high=1.0)
    asarray.check(term.direct, [20.0])


@pytest.mark.parametrize("max_ratio", [20.0, inf])
def test_a_weight_may_have_a_floor(max_ratio, asarray):
    arrays = asarray([log(0.01)]), asarray([log(0.5)]), asarray([1.0])
    asarray.check(dppo_tv(*arrays, min_ratio=0.1, max_ratio=max_ratio).direct, [0.1])


def test_top_k_divergences_have_a_bucket_for_the_rest(asarray):
    """p = 1/2 1/4 and rest 1/4, q = 1/4 1/4 and rest 1/2: TV 1/4, KL 1/4 log 1/2 + 1/2 log 2 = 1/4 log 2."""
    p, q = asarray([[log(0.5), log(0.25)]]), asarray([[log(0.25), log(0.25)]])
    arrays = asarray([log(0.5)]), asarray([log(0.25)]), p, q, asarray([1.0])
    for kernel, far in ((dppo_top_tv, 0.25), (dppo_top_kl, 0.25 * LOG2)):
        asarray.check(kernel(*arrays, high=far + 1e-4).direct, [2.0])
        asarray.check(kernel(*arrays, high=far - 1e-4).direct, [0.0])


@pytest.mark.parametrize("settings", [{"low": -0.1}, {"high": -0.1}, {"max_ratio": 0.0}])
def test_thresholds_of_a_divergence_are_checked(settings):
    zeros, tops = np.zeros((1, 1, 1)), np.zeros((1, 1, 1, 2))
    for kernel, arrays in (
        (dppo_tv, (zeros, zeros, zeros)),
        (dppo_kl, (zeros, zeros, zeros)),
        (dppo_top_tv, (zeros, zeros, tops, tops, zeros)),
        (dppo_top_kl, (zeros, zeros, tops, tops, zeros)),
    ):
        with pytest.raises(ValueError, match="expected low, high >= 0 and max_ratio > 0, got"):
            kernel(*arrays, **settings)


def test_binary_divergence_is_never_negative():
    p = partial(np.random.default_rng(0).uniform, 0.01, 0.99)
    ours, theirs = np.log(p(500)), np.log(p(500))
    assert (binary_kl(ours - theirs, ours) >= 0.0).all()
