"""Aggregation: pictures of W for a completion of three tokens, one of one, and an empty one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grpo_ref.aggregation import (
    fixed_length,
    group_token_mean,
    kept_token_mean,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
    token_sum,
    token_sum_over,
)

MASK = [[[1, 1, 1], [1, 0, 0], [0, 0, 0]]]
# kernel, settings -> weight of a token of the long completion, and of the short one
WEIGHTS = {
    "token sum: one each": (token_sum, {}, [1, 1]),
    "token mean: four tokens": (token_mean, {}, [1 / 4, 1 / 4]),
    "token mean of the only group: four tokens": (group_token_mean, {}, [1 / 4, 1 / 4]),
    "mean of means, the empty one counted: n = 3": (sequence_mean_token_mean, {}, [1 / 9, 1 / 3]),
    "mean of means, the empty one dropped: n = 2": (
        sequence_mean_token_mean,
        {"count_empty": False},
        [1 / 6, 1 / 2],
    ),
    "mean of sums, the empty one counted": (sequence_mean_token_sum, {}, [1 / 3, 1 / 3]),
    "mean of sums, the empty one dropped": (sequence_mean_token_sum, {"count_empty": False}, [1 / 2, 1 / 2]),
    "fixed length 8, the empty one counted": (fixed_length, {}, [1 / 24, 1 / 24]),
    "fixed length 8, the empty one dropped": (fixed_length, {"count_empty": False}, [1 / 16, 1 / 16]),
}
ROWS = pytest.mark.parametrize(("kernel", "settings", "weights"), WEIGHTS.values(), ids=WEIGHTS)


def weigh(kernel, mask, **settings):
    return kernel(mask, 8, **settings) if kernel is fixed_length else kernel(mask, **settings)


def picture(weights):
    """The whole W: each weight where its completion has tokens, zeros elsewhere."""
    return MASK * np.array([[[weights[0]], [weights[1]], [0]]])


@ROWS
def test_weights(kernel, settings, weights, asarray):
    asarray.check(weigh(kernel, asarray(MASK), **settings), picture(weights))


@pytest.mark.parametrize("dtype", [bool, int])
@ROWS
def test_truth_values_and_integers_will_do_as_a_mask(kernel, settings, weights, dtype, asarray):
    got = asarray.to_numpy(weigh(kernel, asarray(np.array(MASK, dtype=dtype)), **settings))
    np.testing.assert_allclose(got, picture(weights), rtol=1e-15)
    assert got.dtype == np.float64


KERNELS = [
    token_sum,
    token_mean,
    group_token_mean,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    fixed_length,
]


@pytest.mark.parametrize("count_empty", [True, False])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_batch_without_tokens_weighs_nothing(kernel, count_empty, asarray):
    settings = {} if kernel in (token_sum, token_mean) else {"count_empty": count_empty}
    asarray.check(weigh(kernel, asarray(np.zeros((2, 3, 4))), **settings), np.zeros((2, 3, 4)))


@pytest.mark.parametrize("kernel", KERNELS[:-1])
def test_a_token_alone_has_all_the_weight(kernel, asarray):
    asarray.check(kernel(asarray([[[1]]])), [[[1]]])


def test_a_budget_of_one_token_is_one_a_budget_of_none_is_refused(asarray):
    asarray.check(fixed_length(asarray([[[1]]]), 1), [[[1]]])
    with pytest.raises(ValueError, match="max_length: expected at least 1 token, got 0"):
        fixed_length(asarray([[[1]]]), 0)


def answers(*lengths):
    """Groups of one completion each, with these lengths."""
    return (np.arange(max(lengths)) < np.array(lengths)[:, None, None]).astype(float)


def test_short_answers_count_half_in_dapos_paper_and_a_hundredth_in_verl(
    asarray,
):
    """Answers of 10 and 1000 tokens. By the group: 1/2 each. By the batch: 10/1010 and 1000/1010."""
    mask = asarray(answers(10, 1000))
    by_group, by_batch = (
        asarray.to_numpy(kernel(mask)).sum((1, 2), dtype=np.float64)
        for kernel in (group_token_mean, token_mean)
    )
    np.testing.assert_allclose(by_group, [0.5, 0.5], rtol=1e-6)
    np.testing.assert_allclose(by_batch, [10 / 1010, 1000 / 1010], rtol=1e-6)
    assert round(float(by_batch[0]), 4) == 0.0099


def test_tokens_of_one_group_have_one_weight_whichever_completion_they_are_in(asarray):
    """Four tokens in the first group, two in the second: 1/4 and 1/2, each halved by the two groups."""
    mask = asarray([[[1, 1, 1], [1, 0, 0]], [[1, 0, 0], [1, 0, 0]]])
    asarray.check(
        group_token_mean(mask), [[[1 / 8, 1 / 8, 1 / 8], [1 / 8, 0, 0]], [[1 / 4, 0, 0], [1 / 4, 0, 0]]]
    )


def test_an_empty_group_counts_or_not(asarray):
    """One of three groups has no token: the others have 1/3 each if it counts, and 1/2 each if not."""
    mask = asarray(answers(2, 1, 0))
    asarray.check(group_token_mean(mask), [[[1 / 6, 1 / 6]], [[1 / 3, 0]], [[0, 0]]])
    asarray.check(group_token_mean(mask, count_empty=False), [[[1 / 4, 1 / 4]], [[1 / 2, 0]], [[0, 0]]])


THREE_AND_ONE = [[[1, 1, 1], [1, 0, 0]]]


def test_weights_by_a_number_and_by_what_is_kept(asarray):
    asarray.check(token_sum_over(asarray(THREE_AND_ONE), tokens=8.0), np.array(THREE_AND_ONE) / 8)
    kept = kept_token_mean(asarray(THREE_AND_ONE), asarray([[[1, 0, 2], [0.5, 1, 1]]]))
    asarray.check(kept, [[[1 / 3, 0, 1 / 3], [1 / 3, 0, 0]]])
    with pytest.raises(ValueError, match="tokens: expected a number > 0, got 0"):
        token_sum_over(asarray(THREE_AND_ONE), tokens=0)


SHAPE = (2, 3, 4)
ONES = np.ones(SHAPE)


@given(hnp.arrays(np.int64, SHAPE[:-1], elements=st.integers(0, 4)))
def test_token_mean_over_what_is_kept_is_token_mean(lengths):
    mask = (np.arange(SHAPE[-1]) < lengths[..., None]).astype(float)
    np.testing.assert_array_equal(kept_token_mean(mask, ONES), token_mean(mask))
    np.testing.assert_allclose(
        sequence_mean_token_mean(mask, eps=1e-8), sequence_mean_token_mean(mask), rtol=2e-8
    )
