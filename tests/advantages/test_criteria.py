"""Several criteria: each is normalized before they are summed."""

import numpy as np
import pytest

from grpo_ref.advantages import normalized_then_summed, normalized_then_whitened

# components of a group of two, weights, settings -> advantages
COMPONENTS = {
    "criteria of different scale count by their weights: 1 - 0.5": (
        [[[1, 0], [0, 100]]],
        [1, 0.5],
        {"ddof": 0, "eps": 0.0, "whiten": False},
        [[0.5, -0.5]],
    ),
    "a criterion on which the group agrees adds nothing": (
        [[[1, 0.1], [0, 0.1]]],
        [1, 5],
        {"ddof": 0, "eps": 0.0, "whiten": False},
        [[1, -1]],
    ),
    "groups are normalized apart": (
        [[[1], [0]], [[30], [10]]],
        [2],
        {"ddof": 0, "eps": 0.0, "whiten": False},
        [[2, -2], [2, -2]],
    ),
    "then the batch: ± 3/2 and 0 0 have std √(9/8)": (
        [[[1, 1], [0, 0]], [[1, 1], [1, 1]]],
        [1, 0.5],
        {"ddof": 0, "eps": 0.0},
        [[np.sqrt(2), -np.sqrt(2)], [0, 0]],
    ),
    "no contrast anywhere, and no 0/0": ([[[1], [1]]], [1], {"eps": 0.0}, [[0, 0]]),
}


@pytest.mark.parametrize(
    ("components", "weights", "settings", "expected"), COMPONENTS.values(), ids=COMPONENTS
)
def test_criteria_are_normalized_before_they_are_summed(components, weights, settings, expected, asarray):
    got = normalized_then_summed(asarray(components), asarray(weights), **settings)
    asarray.check(got, expected)


THREE_AND_ONE = [[[1, 1, 1], [1, 0, 0]]]


def test_gdpo_over_tokens(asarray):
    """Two criteria that agree, weights 1 and 1: plus and minus 2; over tokens mean 1, std (ddof 1) 2."""
    components = asarray([[[1, 10], [0, 0]]])
    got = normalized_then_whitened(components, asarray([1, 1]), asarray(THREE_AND_ONE), ddof=0, eps=0.0)
    np.testing.assert_allclose(asarray.to_numpy(got), [[[0.5] * 3, [-1.5, 0, 0]]], rtol=1e-5)


def test_criteria_of_groups_of_one_may_be_kept():
    """Two single completions of 1 and 0, one token each: mean 1/2 and variance 1/2 over the tokens."""
    components, weights, mask = np.array([[[1.0]], [[0.0]]]), np.ones(1), np.ones((2, 1, 1))
    assert not normalized_then_whitened(components, weights, mask).any()
    kept = normalized_then_whitened(components, weights, mask, keep_singletons=True)
    np.testing.assert_allclose(kept, [[[0.5**0.5]], [[-(0.5**0.5)]]], rtol=1e-6)
