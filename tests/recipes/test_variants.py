"""The family: every kernel by hand in every library and precision, and what it becomes in its limits."""

from dataclasses import replace
from functools import partial
from math import exp, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grpo_ref import (
    GRPO,
    RECIPES,
    all_completions,
    batch_normalized,
    cispo,
    clip_cov,
    clip_cov_eligible,
    clipped,
    discounted,
    dppo_kl,
    dppo_top_kl,
    dppo_top_tv,
    dppo_tv,
    dual_clipped,
    early_stop,
    ended_completions,
    first_of_equals,
    gated_ratio,
    geometric_mean_clipped,
    gpg,
    group_normalized,
    gspo_token,
    importance_weighted,
    indicator,
    kept_token_mean,
    leave_one_out,
    length_weighted,
    masked,
    normalized_then_summed,
    normalized_then_whitened,
    normalized_twice,
    off_policy_mask,
    pass_rate_between,
    policy_loss,
    ranked,
    reinforce,
    sapo,
    sequence_mean_level,
    sequence_mean_token_mean,
    sequence_sum_level,
    squared_ratio,
    step_suffix_sums,
    symmetric_kl,
    symmetric_tv,
    token_mean,
    token_sum_over,
    top_entropy,
    top_movers,
    truncated,
    two_sided_clipped,
    unlikely_under_reference,
    vespo,
    whitened,
)
from grpo_ref.kernels.surrogates import binary_kl

LOG2 = log(2.0)
ROOT2 = sqrt(2.0)

# ---- surrogates by hand ----------------------------------------------------------------------------

# ratio, advantage, settings -> value, slope
TWO_SIDED = {
    "a good token is held at the clip": (2.0, 1.0, {"max_ratio": 4.0}, 1.2, 0.0),
    "a bad token trains up to the cap": (3.0, -1.0, {"max_ratio": 4.0}, -3.0, -3.0),
    "and not beyond it": (5.0, -1.0, {"max_ratio": 4.0}, -4.0, 0.0),
    "a cap below the clip holds good tokens earlier": (1.15, 1.0, {"max_ratio": 1.1}, 1.1, 0.0),
    "and leaves the clip as the floor of bad ones": (1.15, -1.0, {"max_ratio": 1.1}, -1.15, -1.15),
    "which holds beyond it": (1.3, -1.0, {"max_ratio": 1.1}, -1.2, 0.0),
    "a bad token pushed far enough": (0.5, -1.0, {"max_ratio": 4.0}, -0.8, 0.0),
}


@pytest.mark.parametrize(
    ("ratio", "advantage", "settings", "value", "slope"), TWO_SIDED.values(), ids=TWO_SIDED
)
def test_two_sided_clip(ratio, advantage, settings, value, slope, asarray):
    term = two_sided_clipped(asarray([log(ratio)]), asarray([advantage]), **settings)
    asarray.check(term.value, [value])
    asarray.check(term.slope, [slope])


def test_geometric_mean_clips_each_token_first(asarray):
    """A > 0: log-ratios 0.6 and 0.2 become 0.4 and 0.2, mean 0.3; A < 0: -0.6 and 0.8 become -0.4 and 0.8."""
    log_ratio = asarray([[[0.6, 0.2, 9.0], [-0.6, 0.8, 9.0]]])
    mask = asarray([[[1, 1, 0], [1, 1, 0]]])
    term = geometric_mean_clipped(log_ratio, asarray([[[2.0] * 3, [-1.0] * 3]]), mask)
    good, bad = 2 * exp(0.3), -exp(0.2)
    asarray.check(term.value[..., :2], [[[good, good], [bad, bad]]])
    asarray.check(term.slope[..., :2], [[[0.0, good], [0.0, bad]]])


def test_gspo_token_has_the_value_of_the_clip_and_a_slope_of_the_token(asarray):
    term = gspo_token(asarray([log(1.1), log(1.5)]), asarray([2.0, 1.0]), clip_low=0.2, clip_high=0.2)
    asarray.check(term.value, [2.2, 1.2])
    asarray.check(term.direct, [2.2, 0.0])
    assert term.slope == 0.0


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


def test_vespo_is_limited_far_away(asarray):
    """w = e^-100 counts as 1e-8: k = 2 gives 1e-16 e^(3 (1 - 1e-8))."""
    ones = asarray([[[1]]])
    term = vespo(asarray([[[-100.0]]]), asarray([[[-1.0]]]), ones, ones, ones)
    np.testing.assert_allclose(float(term.direct[0, 0, 0]), 1e-16 * exp(3.0), rtol=1e-4)
    with pytest.raises(
        ValueError, match="expected k_positive, lambda_positive, k_negative, lambda_negative > 0"
    ):
        vespo(ones, ones, ones, ones, ones, k_positive=0.0)


def test_the_books_gate(asarray):
    """At a ratio of 1 the gate is 1/2; slope A (1/2 + 1/(4 tau)) above, A (1/2 - 1/(4 tau)) below."""
    term = gated_ratio(asarray([0.0, 0.0]), asarray([2.0, -2.0]), tau_positive=0.5, tau_negative=1.0)
    asarray.check(term.value, [1.0, -1.0])
    asarray.check(term.slope, [2.0, -0.5])


# p, q, advantage, threshold -> kept
MOVES = {
    "a good token that moved up too far": (0.6, 0.4, 1.0, 0.15, False),
    "a good token that moved down is called back": (0.4, 0.6, 1.0, 0.15, True),
    "a bad token that moved down too far": (0.4, 0.6, -1.0, 0.15, False),
    "a bad token that moved up is called back": (0.6, 0.4, -1.0, 0.15, True),
    "not far enough": (0.5, 0.4, 1.0, 0.15, True),
}


@pytest.mark.parametrize(("p", "q", "advantage", "threshold", "kept"), MOVES.values(), ids=MOVES)
def test_dppo_leaves_out_what_moved_too_far_where_the_advantage_points(
    p, q, advantage, threshold, kept, asarray
):
    arrays = asarray([log(p / q)]), asarray([log(p)]), asarray([advantage])
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
    asarray.check(binary_kl(arrays[0], arrays[1]), [far])


def test_dppos_weight_is_capped(asarray):
    term = dppo_tv(asarray([log(50.0)]), asarray([log(0.05)]), asarray([1.0]), high=1.0)
    asarray.check(term.direct, [20.0])


def test_top_k_divergences_have_a_bucket_for_the_rest(asarray):
    """p = 1/2 1/4 and rest 1/4, q = 1/4 1/4 and rest 1/2: TV 1/4, KL 1/4 log 1/2 + 1/2 log 2 = 1/4 log 2."""
    p, q = asarray([[log(0.5), log(0.25)]]), asarray([[log(0.25), log(0.25)]])
    arrays = asarray([LOG2]), asarray([log(0.5)]), p, q, asarray([1.0])
    for kernel, far in ((dppo_top_tv, 0.25), (dppo_top_kl, 0.25 * LOG2)):
        asarray.check(kernel(*arrays, high=far + 1e-4).direct, [2.0])
        asarray.check(kernel(*arrays, high=far - 1e-4).direct, [0.0])


def test_the_books_masks_have_no_direction(asarray):
    """p = 0.4 from q = 0.6 with A > 0: the paper keeps it, |p - q| = 0.2 does not, p log(p/q) < 0 does."""
    arrays = asarray([log(0.4 / 0.6)]), asarray([log(0.4)]), asarray([1.0])
    asarray.check(symmetric_tv(*arrays, delta=0.15).slope, [0.0])
    asarray.check(symmetric_tv(*arrays, delta=0.25).slope, [0.4 / 0.6])
    asarray.check(symmetric_kl(*arrays, delta=0.0).value, [0.4 / 0.6])
    up = asarray([log(0.6 / 0.4)]), asarray([log(0.6)]), asarray([1.0])
    asarray.check(symmetric_kl(*up, delta=0.6 * log(1.5) + 1e-3).value, [1.5])
    asarray.check(symmetric_kl(*up, delta=0.6 * log(1.5) - 1e-3).value, [0.0])


def test_top_movers(asarray):
    """Moves of 0.1, 0.3 and 0.2; the padding does not compete."""
    p, q = np.array([[[0.5, 0.5, 0.5, 0.9]]]), np.array([[[0.4, 0.2, 0.3, 0.1]]])
    arrays = (
        asarray(np.log(p / q)),
        asarray(np.log(p)),
        asarray(np.ones((1, 1, 4))),
        asarray([[[1, 1, 1, 0]]]),
    )
    asarray.check(top_movers(*arrays, k=1).slope, [[[0.0, 2.5, 0.0, 0.0]]])
    asarray.check(top_movers(*arrays, k=2).slope, [[[0.0, 2.5, 5 / 3, 0.0]]])
    with pytest.raises(ValueError, match="k: expected at least 1 token, got 0"):
        top_movers(*arrays, k=0)


def test_squared_ratio(asarray):
    term = squared_ratio(asarray([0.5]), asarray([-2.0]), asarray([3.0]), beta=4.0)
    asarray.check(term.value, [-6.5])
    asarray.check(term.slope, [-2.0])
    asarray.check(term.direct, [3.0])
    with pytest.raises(ValueError, match="beta: expected a number >= 0"):
        squared_ratio(asarray([0.5]), asarray([-2.0]), asarray([3.0]), beta=-1.0)


def test_clip_cov_takes_the_smallest_noise_of_those_inside(asarray):
    """A = 2 -1 0 and log p = -1 -3 -2: covariances 5/3, 4/3, 0; the noise picks the second of two."""
    log_probs, advantages = asarray([[[-1.0, -3.0, -2.0]]]), asarray([[[2.0, -1.0, 0.0]]])
    arrays = asarray([[[0.0, 0.0, 0.0]]]), log_probs, advantages, asarray([[[1, 1, 1]]])
    noise = asarray([[[0.9, 0.1, 0.0]]])
    asarray.check(clip_cov_eligible(*arrays, cov_low=1.0, cov_high=5.0), [[[True, True, False]]])
    asarray.check(clip_cov_eligible(*arrays, cov_low=1.0, cov_high=1.5), [[[False, True, False]]])
    asarray.check(clip_cov(*arrays, noise).slope, [[[2.0, 0.0, 0.0]]])
    asarray.check(clip_cov(*arrays, noise, share=0.7).slope, [[[0.0, 0.0, 0.0]]])
    asarray.check(clip_cov(*arrays, noise, cov_low=5.0).slope, [[[2.0, -1.0, 0.0]]])


def test_a_token_that_the_clip_holds_is_not_chosen():
    arrays = (
        np.log([[[1.5, 1.0, 1.0]]]),
        np.array([[[-1.0, -3.0, -2.0]]]),
        np.array([[[2.0, -1.0, 0.0]]]),
        np.ones((1, 1, 3)),
    )
    assert clip_cov_eligible(*arrays).tolist() == [[[False, True, False]]]


# ---- advantages, filters, weights by hand ----------------------------------------------------------

ADVANTAGES = {
    "over the batch: 0 0 2 2 have mean 1 and std 1": (
        batch_normalized,
        [[0, 0], [2, 2]],
        {"eps": 0.0},
        [[-1, -1], [1, 1]],
    ),
    "over the batch: equal rewards": (batch_normalized, [[3, 3]], {"eps": 0.0}, [[0, 0]]),
    "gpg: one of four is rewarded, so twice two": (gpg, [[1, 0], [0, 0]], {}, [[2, -2], [0, 0]]),
    "gpg: none is rewarded": (gpg, [[0, 0]], {}, [[0, 0]]),
    "gpg: -1 counts as a reward": (gpg, [[1, -1]], {}, [[1, -1]]),
}


@pytest.mark.parametrize(("kernel", "rewards", "settings", "expected"), ADVANTAGES.values(), ids=ADVANTAGES)
def test_advantages(kernel, rewards, settings, expected, asarray):
    asarray.check(kernel(asarray(rewards), **settings), expected)


def test_the_length_weighted_baseline(asarray):
    """Rewards 1 and 0 of lengths 3 and 1: baseline 3/4; an empty completion has no say."""
    asarray.check(length_weighted(asarray([[1, 0]]), asarray([[3, 1]])), [[0.25, -0.75]])
    asarray.check(length_weighted(asarray([[1, 5]]), asarray([[2, 0]])), [[0, 4]])
    asarray.check(length_weighted(asarray([[1, 5]]), asarray([[0, 0]])), [[1, 5]])
    asarray.check(length_weighted(asarray([[2.0]]), asarray([[3]])), [[2.0]])
    asarray.check(length_weighted(asarray([[2.0]]), asarray([[3]]), keep_singletons=False), [[0.0]])


MASK = [[[1, 1, 1], [1, 0, 0]]]


def test_whitening_counts_tokens(asarray):
    """Centred 1/2 and -1/2 on three tokens and one: mean 1/4, variance (ddof 0) 3/16, std sqrt(3)/4."""
    got = whitened(asarray([[1, 0]]), asarray(MASK), ddof=0, eps=0.0)
    asarray.check(got, [[[1 / sqrt(3)] * 3, [-3 / sqrt(3), 0, 0]]])
    one = whitened(asarray([[1, 0]]), asarray(MASK), ddof=1, eps=0.0)
    asarray.check(one, [[[0.5] * 3, [-1.5, 0, 0]]])
    asarray.check(whitened(asarray([[1, 1]]), asarray(MASK), eps=0.0), [[[0] * 3, [0] * 3]])


def test_discounting_runs_back_from_the_last_token(asarray):
    """Rewards 4 and 2, gamma 1/2: tokens 1 2 4 and 2; mean 9/4, variance (ddof 0) 25/4 - 81/16 = 19/16."""
    got = discounted(asarray([[4, 2]]), asarray(MASK), gamma=0.5, ddof=0, eps=0.0)
    std = sqrt(19) / 4
    asarray.check(got, [[[-1.25 / std, -0.25 / std, 1.75 / std], [-0.25 / std, 0, 0]]])
    with pytest.raises(ValueError, match="gamma: expected 0 <= gamma <= 1"):
        discounted(asarray([[4, 2]]), asarray(MASK), gamma=1.5)


def test_normalised_twice(asarray):
    """plus and minus 1 in the group; on three tokens and one: mean 1/2, std (ddof 0) sqrt(3)/2."""
    got = normalized_twice(asarray([[1, 0]]), asarray(MASK), ddof=0, eps=0.0, token_eps=0.0)
    asarray.check(got, [[[1 / sqrt(3)] * 3, [-3 / sqrt(3), 0, 0]]])


def test_gdpo_over_tokens(asarray):
    """Two criteria that agree, weights 1 and 1: plus and minus 2; over tokens mean 1, std (ddof 1) 2."""
    components = asarray([[[1, 10], [0, 0]]])
    got = normalized_then_whitened(components, asarray([1, 1]), asarray(MASK), ddof=0, eps=0.0)
    np.testing.assert_allclose(asarray.to_numpy(got), [[[0.5] * 3, [-1.5, 0, 0]]], rtol=1e-5)


def test_step_rewards_are_summed_from_the_token_on(asarray):
    """Steps of reward 1 and 3, and of 2: mean 2, std (ddof 0) sqrt(2/3); scores -s, s and 0."""
    rewards, ends = asarray([[[0, 1, 3, 9], [2, 9, 9, 9]]]), asarray([[[0, 1, 1, 0], [1, 0, 0, 0]]])
    s = 1 / sqrt(2 / 3)
    got = step_suffix_sums(rewards, ends, ddof=0, eps=0.0)
    asarray.check(got, [[[0, 0, s, 0], [0, 0, 0, 0]]])
    asarray.check(step_suffix_sums(rewards, asarray(np.zeros((1, 2, 4)))), np.zeros((1, 2, 4)))


def test_filters(asarray):
    rewards = asarray([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]])
    asarray.check(pass_rate_between(rewards), [True, False, True, False])
    asarray.check(pass_rate_between(rewards, low=0.0, high=1.0), [True] * 4)
    asarray.check(all_completions(rewards), np.ones((4, 5), dtype=bool))
    with pytest.raises(ValueError, match="expected 0 <= low <= high <= 1"):
        pass_rate_between(rewards, low=0.9, high=0.1)
    tokens = asarray(np.array([[[1, 2, 7], [1, 2, 8], [1, 3, 7], [1, 2, 9]]]))
    mask = asarray(np.array([[[1, 1, 0]] * 4]) == 1)
    asarray.check(first_of_equals(tokens, mask), [[True, False, True, False]])
    ended = asarray(np.array([[True, False]]))
    assert ended_completions(ended) is ended


def test_weights_by_a_number_and_by_what_is_kept(asarray):
    asarray.check(token_sum_over(asarray(MASK), tokens=8.0), np.array(MASK) / 8)
    kept = kept_token_mean(asarray(MASK), asarray([[[1, 0, 2], [0.5, 1, 1]]]))
    asarray.check(kept, [[[1 / 3, 0, 1 / 3], [1 / 3, 0, 0]]])
    with pytest.raises(ValueError, match="tokens: expected a number > 0, got 0"):
        token_sum_over(asarray(MASK), tokens=0)


# ---- corrections by hand -----------------------------------------------------------------------------

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
    """The policy moved away by 0.3 a token on average; good completions stay."""
    new, rollout = asarray([[[-1.5, -1.1], [-1.5, -1.1]]]), asarray([[[-1.0, -1.0], [-1.0, -1.0]]])
    advantages, mask = asarray([[[-1, -1], [1, 1]]]), asarray([[[1, 1], [1, 1]]])
    asarray.check(off_policy_mask(new, rollout, advantages, mask, threshold=0.25), [[[0, 0], [1, 1]]])
    asarray.check(off_policy_mask(new, rollout, advantages, mask, threshold=0.35), [[[1, 1], [1, 1]]])


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


def test_a_batch_is_given_up(asarray):
    log_ratio, mask = asarray([[[log(9.0), log(3.0), 50.0]]]), asarray([[[1, 1, 0]]])
    asarray.check(early_stop(log_ratio, mask, max_ratio=6.01), [[[1, 1, 1]]])
    asarray.check(early_stop(log_ratio, mask, max_ratio=5.99), [[[0, 0, 0]]])


def test_what_the_reference_finds_likely_counts_less(asarray):
    asarray.check(unlikely_under_reference(asarray([[[log(0.75), 0.0]]])), [[[0.25, 0.0]]])


# ---- limits --------------------------------------------------------------------------------------------

SHAPE = (2, 3, 4)
RATIOS = hnp.arrays(np.float64, SHAPE, elements=st.floats(-2.0, 2.0, width=16))
SIGNED = hnp.arrays(np.float64, SHAPE[:-1], elements=st.floats(-2.0, 2.0, width=16)).map(
    lambda a: np.repeat(a[..., None], SHAPE[-1], axis=-1)
)
ONES = np.ones(SHAPE)


def assert_same_term(ours, theirs):
    np.testing.assert_allclose(ours.value, theirs.value, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        ours.slope + ours.direct + 0 * ours.value,
        theirs.slope + theirs.direct + 0 * ours.value,
        rtol=1e-12,
        atol=1e-14,
    )


@given(RATIOS, SIGNED)
def test_without_bounds_the_clip_family_is_the_plain_ratio(log_ratio, advantages):
    plain = importance_weighted(log_ratio, advantages)
    wide = {"clip_low": 1 - 1e-12, "clip_high": 1e9}
    assert_same_term(clipped(log_ratio, advantages, **wide), plain)
    assert_same_term(dual_clipped(log_ratio, advantages, **wide, max_ratio=1e9), plain)
    assert_same_term(two_sided_clipped(log_ratio, advantages, **wide, max_ratio=1e9), plain)
    assert_same_term(symmetric_tv(log_ratio, -np.abs(log_ratio) - 3, advantages, delta=1.0), plain)
    assert_same_term(top_movers(log_ratio, -np.abs(log_ratio) - 3, advantages, ONES, k=99), plain)


@given(RATIOS, SIGNED)
def test_without_bounds_detached_weights_are_the_ratio(log_ratio, advantages):
    log_probs = -np.abs(log_ratio) - 2.5
    weight = np.exp(log_ratio) * advantages
    unbounded = {"low": 1.0, "high": 1.0, "max_ratio": inf}
    np.testing.assert_allclose(
        cispo(log_ratio, log_probs, advantages, max_ratio=inf).direct, weight, rtol=1e-14
    )
    np.testing.assert_allclose(
        dppo_tv(log_ratio, log_probs, advantages, **unbounded).direct, weight, rtol=1e-14
    )
    far = {"low": 1e9, "high": 1e9, "max_ratio": inf}
    np.testing.assert_allclose(dppo_kl(log_ratio, log_probs, advantages, **far).direct, weight, rtol=1e-14)


@given(SIGNED)
def test_on_policy_every_slope_is_the_advantage(advantages):
    zeros, log_probs = np.zeros(SHAPE), np.full(SHAPE, -1.0)
    tops = np.log(np.full((*SHAPE, 2), 0.3))
    terms = [
        clipped(zeros, advantages),
        sapo(zeros, advantages, tau_positive=3.0, tau_negative=0.5),
        geometric_mean_clipped(zeros, advantages, ONES),
        gspo_token(zeros, advantages),
        vespo(zeros, log_probs, advantages, ONES, ONES),
        cispo(zeros, log_probs, advantages),
        dppo_tv(zeros, log_probs, advantages),
        dppo_kl(zeros, log_probs, advantages),
        dppo_top_tv(zeros, log_probs, tops, tops, advantages),
        dppo_top_kl(zeros, log_probs, tops, tops, advantages),
        squared_ratio(zeros, log_probs, advantages, beta=3.0),
        reinforce(log_probs, advantages),
    ]
    for term in terms:
        np.testing.assert_allclose(term.slope + term.direct + zeros, advantages, rtol=1e-12, atol=1e-15)


@given(RATIOS, SIGNED, hnp.arrays(np.int64, SHAPE[:-1], elements=st.integers(1, 4)))
def test_gspo_token_is_gspo_for_one_advantage_a_completion(log_ratio, advantages, lengths):
    mask = np.arange(SHAPE[-1]) < lengths[..., None]
    gspo = replace(GRPO, level=sequence_mean_level, kl_coef=0.0)
    by_token = replace(gspo, surrogate=partial_slot(gspo_token))
    new = np.full(SHAPE, -3.0) + log_ratio
    ours, theirs = (
        policy_loss(new, advantages, mask, recipe=recipe, old_log_probs=np.full(SHAPE, -3.0))
        for recipe in (by_token, gspo)
    )
    np.testing.assert_allclose(ours.loss, theirs.loss, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ours.gradient, theirs.gradient, rtol=1e-12, atol=1e-14)


def partial_slot(kernel):
    return replace(GRPO.surrogate, kernel=kernel)


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
        group_normalized(rewards, ddof=1, eps=0.0), np.array([[1, -1], [1, -1]]) / ROOT2, rtol=1e-12
    )


@given(RATIOS, RATIOS)
def test_without_a_cap_truncation_is_importance_sampling(old, rollout):
    ratio = np.exp(old - rollout)
    np.testing.assert_allclose(truncated(old, rollout, ONES, max_ratio=inf), ratio, rtol=1e-13)
    np.testing.assert_allclose(masked(old, rollout, ONES, max_ratio=inf), ratio, rtol=1e-13)
    np.testing.assert_array_equal(indicator(old, rollout, ONES, max_ratio=inf), ONES)
    np.testing.assert_array_equal(truncated(old, old, ONES, level=sequence_sum_level), ONES)


@given(hnp.arrays(np.int64, SHAPE[:-1], elements=st.integers(0, 4)))
def test_token_mean_over_what_is_kept_is_token_mean(lengths):
    mask = (np.arange(SHAPE[-1]) < lengths[..., None]).astype(float)
    np.testing.assert_array_equal(kept_token_mean(mask, ONES), token_mean(mask))
    np.testing.assert_allclose(token_mean(mask, scale=3.0), 3.0 * token_mean(mask), rtol=1e-15)
    np.testing.assert_allclose(
        sequence_mean_token_mean(mask, eps=1e-8), sequence_mean_token_mean(mask), rtol=2e-8
    )


def test_a_difference_from_grpo_is_one_line():
    for name, recipe in RECIPES.items():
        assert name == "grpo" or 1 <= len(recipe.differences(GRPO)) <= 6


def test_binary_divergence_is_never_negative():
    p = partial(np.random.default_rng(0).uniform, 0.01, 0.99)
    ours, theirs = np.log(p(500)), np.log(p(500))
    assert (binary_kl(ours - theirs, ours) >= 0.0).all()
