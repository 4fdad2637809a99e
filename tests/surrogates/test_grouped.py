"""Surrogates of a group, worked by hand: the classification of REAL and the square of GVPO."""

from math import log

import numpy as np
import pytest

from grpo_ref import RECIPES, policy_loss
from grpo_ref.surrogates import gvpo, real

ONES = np.ones((1, 2, 2))
LENGTHS = np.array([[[1.0, 1.0], [1.0, 0.0]]])


def test_on_policy_each_completion_is_pulled_with_the_same_strength(asarray):
    """One good and one bad score of 0: a loss of 2 log 2, and slopes of G / (2 τ) = 2 with τ = 1/2."""
    advantages = asarray([[[1, 1], [-1, -1]]])
    term = real(asarray(0.0 * ONES), advantages, asarray(LENGTHS), asarray(ONES), tau=0.5)
    asarray.check(term.value, -2 * log(2) * ONES)
    asarray.check(term.slope, [[[2, 2], [-2, 0]]])


def test_a_bad_completion_of_any_ratio_pulls_with_at_most_g_over_tau():
    """Scores of log 3 at τ = 1: good 2/(1 + 3), bad 2 · 3/(1 + 3). At 30 nats they are 0 and nearly 2."""
    advantages = np.array([[[1.0, 1.0], [-1.0, -1.0]]])
    term = real(log(3.0) * ONES, advantages, ONES, ONES, tau=1.0)
    np.testing.assert_allclose(term.value, -(log(4 / 3) + log(4)) * ONES, rtol=1e-14)
    np.testing.assert_allclose(term.slope, [[[0.5, 0.5], [-1.5, -1.5]]], rtol=1e-14)
    far = real(30.0 * ONES, advantages, ONES, ONES, tau=1.0)
    np.testing.assert_allclose(far.slope, [[[0.0, 0.0], [-2.0, -2.0]]], atol=1e-12)


def test_a_group_of_one_kind_has_no_signal():
    term = real(0.3 * ONES, ONES, LENGTHS, ONES)
    assert (term.value.tolist(), term.slope.tolist()) == ([[[0, 0], [0, 0]]],) * 2


def test_a_completion_that_is_masked_out_is_bad_with_a_score_of_0():
    """The second one is good too, but excluded: beside a score of log 3 that is log 2 + log(1 + 1/3)."""
    kept = np.array([[[1.0, 1.0], [0.0, 0.0]]])
    term = real(np.log(3.0) * ONES, ONES, ONES, kept, tau=1.0)
    np.testing.assert_allclose(term.value, -np.log(2.0) - np.log(4 / 3) + 0.0 * ONES, rtol=1e-14)
    np.testing.assert_allclose(term.slope, [[[0.5, 0.5], [0.0, 0.0]]], rtol=1e-14)


def test_only_the_signs_of_the_advantages_count():
    log_ratio, signs = np.array([[[0.1, 0.1], [-0.2, -0.2]]]), np.array([[[1.0, 1.0], [-1.0, -1.0]]])
    one, other = (real(log_ratio, scale * signs, ONES, ONES) for scale in (0.01, 100.0))
    np.testing.assert_array_equal(one.slope, other.slope)


def test_a_temperature_of_0_is_refused():
    with pytest.raises(ValueError, match="tau: expected a number other than 0"):
        real(ONES, ONES, ONES, ONES, tau=0.0)


def test_gvpo_fits_log_ratios_to_rewards(asarray):
    """Log-ratios 3 and 1, β = 1/2, A = ±1: e = ½ · 1 - 1 = -½ and ½; G/(G - 1) = 2.

    The values are -2 · ½ · ¼ and the slopes -2 · ½ · (-½) and -½.
    """
    log_ratio, advantages = asarray([[[3, 3], [1, 0]]]), asarray([[[1, 1], [-1, -1]]])
    term = gvpo(log_ratio, advantages, asarray(LENGTHS), beta=0.5)
    asarray.check(term.value, -0.25 * ONES)
    asarray.check(term.slope, [[[0.5, 0.5], [-0.5, 0]]])


def test_gvpo_is_content_where_the_ratio_is_the_exponential_of_the_reward_over_beta():
    """A = ±0.1 and β = 0.1: the log-ratios should differ by 2, whatever their mean is."""
    log_ratio, advantages = np.array([[[5.0], [3.0]]]), np.array([[[0.1], [-0.1]]])
    term = gvpo(log_ratio, advantages, np.ones((1, 2, 1)), beta=0.1)
    np.testing.assert_allclose(term.value, 0.0, atol=1e-30)
    np.testing.assert_allclose(term.slope, 0.0, atol=1e-15)


def test_on_policy_gvpo_is_beta_times_rloo():
    rng = np.random.default_rng(0)
    log_probs, rewards = -rng.exponential(size=(2, 3, 4)), rng.random((2, 3))
    mask = np.arange(4) < rng.integers(1, 5, (2, 3, 1))
    centered = rewards - rewards.mean(-1, keepdims=True)
    ours = policy_loss(log_probs, centered, mask, recipe=RECIPES["gvpo"])
    rloo = policy_loss(log_probs, 1.5 * centered, mask, recipe=RECIPES["rloo"])
    np.testing.assert_allclose(ours.gradient, 0.1 * rloo.gradient, rtol=1e-12, atol=1e-16)


def test_a_beta_of_0_is_refused():
    with pytest.raises(ValueError, match=r"beta: expected a number > 0, got 0\.0"):
        gvpo(ONES, ONES, ONES, beta=0.0)
