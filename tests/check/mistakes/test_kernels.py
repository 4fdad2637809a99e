"""The wrong kernels are wrong in the way that their sentences say, by hand."""

import numpy as np
import pytest

from grpo_ref import slot
from grpo_ref.aggregation import sequence_mean_token_mean, token_mean
from grpo_ref.check import check_slope
from grpo_ref.check.mistakes.kernels import (
    advantage_in_one_product,
    attracting_k3,
    batch_mean_level,
    clip_around_zero,
    clip_of_log_ratio,
    clip_of_product,
    clip_without_min,
    clipped_log_ratio,
    clipped_quotient,
    constant_ratio,
    correction_of_policy,
    detached_penalty,
    detached_surrogate,
    divided_again,
    exchanged_bounds,
    floored,
    in_micro_batches,
    in_packed_rows,
    incomplete_k3,
    inverted,
    inverted_correction,
    longest_mean,
    max_of_ratios,
    mean_ratio_level,
    min_of_means,
    min_of_ratios,
    old_penalty,
    optimistic,
    padded_mean,
    padded_mean_level,
    penalized_advantages,
    position_mean,
    positive_k1,
    probability_weighted,
    probability_weighted_k1,
    ratio_minus_one,
    reversed_k1,
    slope_inside_only,
    squared_log_ratio,
    stale_clipped,
    summed_completions,
    swapped_k3,
    unfloored,
)
from grpo_ref.corrections import truncated
from grpo_ref.penalties import k1, k3
from grpo_ref.surrogates import clipped

HALF, QUARTER = np.log(np.full((1, 1, 1), 0.5)), np.log(np.full((1, 1, 1), 0.25))
GOOD, BAD = np.ones((1, 1, 1)), -np.ones((1, 1, 1))
MASK = np.array([[[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]])


def test_attracting_k3_pays_for_leaving_the_reference():
    ours, theirs = k3(HALF, QUARTER), attracting_k3(HALF, QUARTER)
    assert float(theirs.value[0, 0, 0]) == -float(ours.value[0, 0, 0]) < 0.0
    assert float(theirs.direct[0, 0, 0]) == -0.5  # 1 - πref/π = 1/2, turned over


def test_swapped_k3_grows_with_the_policy_not_with_the_reference():
    term = swapped_k3(HALF, QUARTER)  # v = log 2
    assert float(term.value[0, 0, 0]) == pytest.approx(2.0 - 1.0 - np.log(2.0))
    assert float(term.direct[0, 0, 0]) == pytest.approx(2.0 - 1.0)


def test_an_inverted_ratio_pushes_good_tokens_down():
    term = inverted(np.log(np.full((1, 1, 1), 1.25)), GOOD)  # the ratio taken is 0.8
    assert float(term.value[0, 0, 0]) == pytest.approx(0.8)
    assert float(term.slope[0, 0, 0]) == pytest.approx(-0.8)


def test_without_the_minimum_a_token_is_not_called_back():
    log_ratio = np.log(np.full((1, 1, 1), 1.5))
    term = clip_without_min(log_ratio, BAD)
    assert float(term.value[0, 0, 0]) == pytest.approx(-1.2)
    assert float(term.slope[0, 0, 0]) == 0.0


def test_a_stale_ratio_is_to_the_first_policy():
    near = stale_clipped(HALF, HALF - np.log(1.1), GOOD)
    far = stale_clipped(HALF, HALF - np.log(1.3), GOOD)
    assert near.direct[0, 0, 0] == pytest.approx(1.1)
    assert far.direct[0, 0, 0] == 0.0


def test_a_padded_mean_counts_padding():
    assert padded_mean(MASK)[0, 0, 0] == 1 / 8
    assert padded_mean(np.pad(MASK, [(0, 0), (0, 0), (0, 4)]))[0, 0, 0] == 1 / 16


@pytest.mark.parametrize("kernel", [inverted, clip_without_min, stale_clipped, swapped_k3, attracting_k3])
def test_a_wrong_kernel_has_the_right_slope_of_its_wrong_value(kernel):
    assert check_slope(kernel).agrees


def test_the_larger_product_lets_a_good_token_run():
    term = optimistic(np.log(np.full((1, 1, 1), 1.5)), GOOD)
    assert float(term.value[0, 0, 0]) == pytest.approx(1.5)  # max(1.5, 1.2)
    assert float(term.slope[0, 0, 0]) == pytest.approx(1.5)


# center, exp of the free branch, exp of the bound -> the value at ratio e, A = 1
IN_LOGS = {
    "the bound alone, before the exponential": (0.0, True, True, np.exp(0.2)),
    "the bound alone, for the ratio": (0.0, True, False, 0.2),
    "no exponential at all": (0.0, False, False, 0.2),
    "the ratio's bounds": (1.0, True, False, 1.0),
}


@pytest.mark.parametrize(("center", "exp_free", "exp_bound", "value"), IN_LOGS.values(), ids=IN_LOGS)
def test_a_clip_on_the_log_ratio(center, exp_free, exp_bound, value):
    settings = {"center": center, "exp_free": exp_free, "exp_bound": exp_bound}
    term = clip_of_log_ratio(GOOD, GOOD, **settings)  # log r = 1
    assert float(term.value[0, 0, 0]) == pytest.approx(value)
    assert check_slope(slot(clip_of_log_ratio, **settings)).agrees


def test_a_floor_holds_what_is_wrong_inside():
    part = slot(floored, part=slot(clipped), max_ratio=3.0)
    term = part(log_ratio=np.log(np.full((1, 1, 1), 5.0)), advantages=BAD)
    assert (float(term.value[0, 0, 0]), float(term.slope[0, 0, 0])) == (-3.0, 0.0)


def test_what_is_detached_has_its_value_and_no_slope():
    gain = slot(detached_surrogate, part=slot(clipped))
    arrays = dict.fromkeys(("log_probs", "old_log_probs", "rollout_log_probs"), HALF)
    term = gain(log_ratio=0.0 * HALF, advantages=GOOD, mask=GOOD, **arrays)
    assert (float(term.value[0, 0, 0]), term.slope, term.direct) == (1.0, 0.0, 0.0)
    cost = slot(detached_penalty, part=slot(k3))(log_probs=HALF, ref_log_probs=QUARTER, log_ratio=HALF)
    assert float(cost.value[0, 0, 0]) == pytest.approx(np.log(2.0) - 0.5)
    assert cost.direct == 0.0
    assert constant_ratio(HALF, BAD).value[0, 0, 0] == -1.0


def test_the_mean_of_means_of_micro_batches():
    """Completions of 2 and 4 tokens: alone each token counts 1/4 and 1/8, together 1/6."""
    part = slot(token_mean)
    np.testing.assert_allclose(in_micro_batches(MASK, 4, part=part, size=1)[0, :, 0], [1 / 4, 1 / 8])
    np.testing.assert_allclose(in_micro_batches(MASK, 4, part=part, number=2)[0, :, 0], [1 / 4, 1 / 8])
    np.testing.assert_allclose(in_micro_batches(MASK, 4, part=part, size=2)[0, :, 0], [1 / 6, 1 / 6])


@pytest.mark.parametrize(
    ("by", "divisors"), [("length", (2, 4)), ("tokens", 6), ("completions", 2), ("padded", 4)]
)
def test_what_is_divided_once_more(by, divisors):
    once = sequence_mean_token_mean(MASK)
    twice = divided_again(MASK, 4, part=slot(sequence_mean_token_mean), by=by)
    np.testing.assert_allclose(twice[0, :, 0], once[0, :, 0] / np.array(divisors))


def test_the_padded_length_divides_the_log_ratio():
    np.testing.assert_allclose(padded_mean_level(MASK, MASK)[0, :, 0], [0.5, 1.0])


LOST = {
    "the minimum of the ratios is the upper bound, bad tokens too": (min_of_ratios, 1.5, -2.0, -2.4),
    "a ratio below the upper bound is not clipped": (min_of_ratios, 0.5, -2.0, -1.0),
    "the maximum of the ratios is the lower bound": (max_of_ratios, 0.5, 2.0, 1.6),
    "a ratio above the lower bound is not clipped": (max_of_ratios, 1.5, 2.0, 3.0),
    "1 is subtracted from 1.2": (ratio_minus_one, 1.5, 2.0, 0.4),
    "the value of a bad token outside the clip is right": (slope_inside_only, 1.5, -2.0, -3.0),
    "a product above 1.2 is cut": (clip_of_product, 1.5, 2.0, 1.2),
    "a product below 0.8 is not": (clip_of_product, 1.5, -2.0, -3.0),
    "the clipped ratio has no advantage": (advantage_in_one_product, 1.5, 2.0, 1.2),
    "and is larger than a negative product": (advantage_in_one_product, 1.5, -2.0, -3.0),
    "a good token is cut at 0.2": (clip_around_zero, 1.5, 2.0, 0.4),
    "a bad one is not": (clip_around_zero, 1.5, -2.0, -3.0),
}


@pytest.mark.parametrize(("kernel", "ratio", "advantage", "value"), LOST.values(), ids=LOST)
def test_a_wrong_clip_has_the_value_worked_by_hand(kernel, ratio, advantage, value):
    term = kernel(np.log(np.full((1, 1, 1), ratio)), np.full((1, 1, 1), advantage))
    assert float(term.value[0, 0, 0]) == pytest.approx(value)


def test_the_unclipped_ratio_may_lack_the_advantage():
    term = advantage_in_one_product(np.log(np.full((1, 1, 1), 1.5)), 2.0 * GOOD, in_free=False)
    assert float(term.value[0, 0, 0]) == pytest.approx(1.5)  # min(1.5, 1.2 * 2)


def test_probabilities_and_log_probabilities_replace_the_ratio():
    assert float(probability_weighted(HALF, BAD).value[0, 0, 0]) == pytest.approx(-0.5)
    term = clipped_quotient(QUARTER, HALF, GOOD)  # log(1/4) / log(1/2) = 2, cut at 1.2
    assert float(term.value[0, 0, 0]) == pytest.approx(1.2)
    assert float(clipped_quotient(QUARTER, HALF, BAD).value[0, 0, 0]) == pytest.approx(-2.0)


PENALTIES = {  # log πθ - log πref = log 2, so eᵛ = 1/2
    "no half": (squared_log_ratio, {}, np.log(2.0) ** 2),
    "no -1": (incomplete_k3, {"constant": 0.0}, 0.5 + np.log(2.0)),
    "no log-ratio": (incomplete_k3, {"linear": 0.0}, -0.5),
    "wrong sign of the log-ratio": (incomplete_k3, {"linear": 1.0}, -0.5 - np.log(2.0)),
    "exchanged": (reversed_k1, {}, -np.log(2.0)),
    "times the probability": (probability_weighted_k1, {}, 0.5 * np.log(2.0)),
    "times the reference's": (probability_weighted_k1, {"by_reference": True}, -0.25 * np.log(2.0)),
}


@pytest.mark.parametrize(("kernel", "settings", "value"), PENALTIES.values(), ids=PENALTIES)
def test_a_wrong_penalty_has_the_value_worked_by_hand(kernel, settings, value):
    assert float(kernel(HALF, QUARTER, **settings).value[0, 0, 0]) == pytest.approx(value)


def test_the_slope_may_be_0_on_both_sides_of_the_clip():
    assert float(slope_inside_only(np.log(np.full((1, 1, 1), 1.5)), BAD).slope[0, 0, 0]) == 0.0
    assert float(slope_inside_only(np.log(np.full((1, 1, 1), 1.1)), BAD).slope[0, 0, 0]) == pytest.approx(
        -1.1
    )


def test_k1_may_be_cut_off_below_0():
    assert float(positive_k1(HALF, QUARTER).value[0, 0, 0]) == pytest.approx(np.log(2.0))
    assert float(positive_k1(QUARTER, HALF).value[0, 0, 0]) == 0.0


def test_a_correction_may_be_upside_down():
    """πold = 1/4 and the sampler's 1/2: the weight 1/2 becomes 2."""
    part = slot(truncated, max_ratio=5.0)
    weight = inverted_correction(QUARTER, HALF, GOOD, part=part)
    assert float(weight[0, 0, 0]) == pytest.approx(2.0)


SMOOTH = [
    *(max_of_ratios, ratio_minus_one, positive_k1),
    *(min_of_ratios, clip_of_product, advantage_in_one_product, clip_around_zero, clipped_quotient),
    *(probability_weighted, squared_log_ratio, incomplete_k3, reversed_k1, probability_weighted_k1),
    *(slot(incomplete_k3, linear=1.0), slot(probability_weighted_k1, by_reference=True)),
    slot(advantage_in_one_product, in_free=False),
]


@pytest.mark.parametrize("part", SMOOTH, ids=lambda part: getattr(part, "__name__", str(part)))
def test_the_slope_of_a_wrong_value_is_its_derivative(part):
    assert check_slope(part).agrees


def test_a_penalty_in_the_advantages_is_constant():
    """Ratio 1, A = 1 and k1 = log 2: the surrogate is 1 - 0.1 log 2, its slope too."""
    part = slot(penalized_advantages, part=slot(clipped), penalty=slot(k1), kl_coef=0.1)
    term = part(
        log_ratio=0.0 * HALF,
        log_probs=HALF,
        old_log_probs=HALF,
        ref_log_probs=QUARTER,
        rollout_log_probs=HALF,
        advantages=GOOD,
        mask=GOOD,
    )
    assert float(term.value[0, 0, 0]) == pytest.approx(1.0 - 0.1 * np.log(2.0))
    assert float(term.slope[0, 0, 0]) == pytest.approx(1.0 - 0.1 * np.log(2.0))


def test_levels_of_mean_ratios_and_of_packed_rows():
    log_ratio = np.log(np.array([[[1.0, 3.0, 9.0, 9.0], [2.0, 2.0, 2.0, 2.0]]]))
    ratios = np.exp(mean_ratio_level(log_ratio, MASK))
    np.testing.assert_allclose(ratios[0, 0], [2.0, 2.0, 1.0, 1.0])  # (1 + 3) / 2, and 1 on padding
    mean = (np.log(3.0) + 4.0 * np.log(2.0)) / 6.0
    np.testing.assert_allclose(batch_mean_level(log_ratio, MASK)[0, 1], mean)


def test_weights_of_wrong_averages():
    """Two completions of 2 and 4 tokens, padded to 4."""
    mean = slot(sequence_mean_token_mean)
    np.testing.assert_allclose(longest_mean(MASK)[0, :, 0], [1 / 8, 1 / 8])
    np.testing.assert_allclose(position_mean(MASK)[0, 1], [1 / 8, 1 / 8, 1 / 4, 1 / 4])
    np.testing.assert_allclose(summed_completions(MASK, 4, part=mean)[0, :, 0], [1 / 2, 1 / 4])
    np.testing.assert_allclose(in_packed_rows(MASK, 4, part=mean, size=2)[0, :, 0], [1 / 6, 1 / 6])
    np.testing.assert_allclose(in_packed_rows(MASK, 4, part=mean, size=3)[0, :, 0], [1 / 6, 1 / 6])


def test_without_a_floor_nothing_is_divided_by_nothing():
    empty, part = MASK * np.array([[[0.0], [1.0]]]), slot(token_mean)
    assert np.isnan(unfloored(empty, 4, part=part, by="length")).all()
    np.testing.assert_allclose(unfloored(empty, 4, part=part, by="tokens")[0, 1], 1 / 4)
    assert np.isnan(unfloored(0.0 * MASK, 4, part=part, by="tokens")).all()


def test_a_clipped_log_ratio_and_exchanged_bounds():
    log_ratio = np.full((1, 1, 1), 0.5)
    assert float(clipped_log_ratio(log_ratio, BAD).value[0, 0, 0]) == pytest.approx(-np.exp(0.2))
    assert float(exchanged_bounds(log_ratio, GOOD).value[0, 0, 0]) == pytest.approx(0.8)
    assert float(exchanged_bounds(log_ratio, BAD).value[0, 0, 0]) == pytest.approx(-np.exp(0.5))


def test_the_minimum_of_means_is_not_the_mean_of_minima():
    """A = 1 and the ratios 2 and 1/2: the sums are 2.5 and 1.2 + 0.8, so all tokens are clipped."""
    log_ratio = np.log(np.array([[[2.0, 0.5]]]))
    term = min_of_means(log_ratio, np.ones((1, 1, 2)), np.ones((1, 1, 2)))
    np.testing.assert_allclose(term.value, [[[1.2, 0.8]]])
    assert not term.slope.any()


def test_a_penalty_of_the_old_policy_and_a_correction_of_the_new():
    term = old_penalty(HALF, QUARTER, HALF, part=slot(k1))
    assert float(term.value[0, 0, 0]) == pytest.approx(np.log(2.0))
    assert not np.any(term.direct)
    weight = correction_of_policy(HALF, QUARTER, GOOD, part=slot(truncated, max_ratio=5.0))
    assert float(weight[0, 0, 0]) == pytest.approx(2.0)
