"""The wrong kernels are wrong in the way that their sentences say, by hand."""

import numpy as np
import pytest

from grpo_ref import slot
from grpo_ref.aggregation import sequence_mean_token_mean, token_mean
from grpo_ref.check import check_slope
from grpo_ref.check.mistakes.kernels import (
    attracting_k3,
    clip_of_log_ratio,
    clip_without_min,
    constant_ratio,
    detached_penalty,
    detached_surrogate,
    divided_again,
    floored,
    in_micro_batches,
    inverted,
    optimistic,
    padded_mean,
    padded_mean_level,
    stale_clipped,
    swapped_k3,
)
from grpo_ref.penalties import k3
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
