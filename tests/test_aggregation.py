"""Aggregation: three pictures of W for a completion of three tokens, one of one, and an empty one."""

import numpy as np
import pytest

from grpo_ref import fixed_length, sequence_mean_token_mean, sequence_mean_token_sum, token_mean, token_sum

MASK = np.array([[[1, 1, 1], [1, 0, 0], [0, 0, 0]]])
THIRD = 1 / 3

WEIGHTS = {
    "token sum: one each": (token_sum, {}, [1, 1]),
    "token mean: four tokens": (token_mean, {}, [1 / 4, 1 / 4]),
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


def weigh(kernel, mask, **settings):
    return kernel(mask, 8, **settings) if kernel is fixed_length else kernel(mask, **settings)


@pytest.mark.parametrize(("kernel", "settings", "weights"), WEIGHTS.values(), ids=WEIGHTS)
def test_weights(kernel, settings, weights, asarray):
    """A token of the long completion gets the first weight, the token of the short one the second."""
    expected = MASK * np.array([[[weights[0]], [weights[1]], [0]]])
    asarray.check(weigh(kernel, asarray(MASK), **settings), expected)


KERNELS = [token_sum, token_mean, sequence_mean_token_mean, sequence_mean_token_sum, fixed_length]


@pytest.mark.parametrize("kernel", KERNELS)
def test_truth_values_will_do_as_a_mask(kernel):
    np.testing.assert_array_equal(weigh(kernel, MASK == 1), weigh(kernel, MASK.astype(float)))


@pytest.mark.parametrize("count_empty", [True, False])
@pytest.mark.parametrize("kernel", KERNELS[1:])
def test_a_batch_without_tokens_weighs_nothing(kernel, count_empty):
    settings = {} if kernel is token_mean else {"count_empty": count_empty}
    assert (weigh(kernel, np.zeros((2, 3, 4)), **settings) == 0.0).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_runs_are_independent(kernel):
    mask = np.random.default_rng(0).random((4, 2, 3, 5)) < 0.5
    np.testing.assert_array_equal(weigh(kernel, mask), np.stack([weigh(kernel, run) for run in mask]))


def test_a_budget_without_tokens_is_refused():
    with pytest.raises(ValueError, match="max_length: expected at least 1 token, got 0"):
        fixed_length(MASK, 0)
