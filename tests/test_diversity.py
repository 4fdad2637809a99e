"""Diversity: the best of many, and the warning that only one answer is left."""

import numpy as np
import pytest

from grpo_ref.diversity import best_of_n, has_collapsed, rejection_sampled


def test_the_best_and_the_better_ones(asarray):
    rewards = asarray([[0.1, 0.7, 0.7, 0.2], [3, 2, 1, 0]])
    np.testing.assert_array_equal(asarray.to_numpy(best_of_n(rewards)), [1, 0])
    asarray.check(
        rejection_sampled(rewards, keep=1), [[False, True, False, False], [True, False, False, False]]
    )
    asarray.check(rejection_sampled(rewards, keep=3), [[False, True, True, True], [True, True, True, False]])
    for keep in (0, 5):
        with pytest.raises(ValueError, match="keep: expected 1 to 4 completions of a group"):
            rejection_sampled(rewards, keep=keep)


def test_collapse_is_all_three_together(asarray):
    """Of four runs the first falls in all three, the others in two, one or none."""
    steady, falling = np.ones(20), np.linspace(1.0, 0.1, 20)
    curves = [
        np.stack([falling, falling, falling, steady], axis=1),
        np.stack([falling, falling, steady, steady], axis=1),
        np.stack([falling, steady, steady, steady], axis=1),
    ]
    asarray.check(has_collapsed(*map(asarray, curves)), [True, False, False, False])
    asarray.check(has_collapsed(*map(asarray, curves), share=0.1), [False] * 4)
