"""The wrong stages of the toy loop, by hand."""

import numpy as np
import pytest

from grpo_ref.check.mistakes import stages

GRADIENT = np.array([[[1.0], [2.0], [4.0]]])
STATES, TOKENS = np.zeros((1, 3, 1), dtype=int), np.array([[[0], [0], [1]]])
PROBS = np.full((1, 2), 0.5)


def test_of_repeated_visits_one_counts():
    # the right sums are 3 and 4, less 7/2 each; the assignment keeps the last visit to arm 0, which is 2
    np.testing.assert_allclose(stages.repeats_lost(GRADIENT, STATES, TOKENS, PROBS), [[2.0 - 3.5, 4.0 - 3.5]])


def test_the_probabilities_are_left_out():
    np.testing.assert_allclose(stages.one_hot_only(GRADIENT, STATES, TOKENS, PROBS), [[3.0, 4.0]])


def test_the_mean_of_the_batch_is_taken_off():
    np.testing.assert_allclose(stages.batch_baseline(np.array([[1.0, 1.0], [0.0, 2.0]])), [[0, 0], [-1, 1]])


def test_padding_is_trained():
    np.testing.assert_allclose(stages.everywhere(np.array([[[1.0, 0.0]]])), [[[0.5, 0.5]]])


@pytest.mark.parametrize(("stage", "slope"), [(stages.never_clipped, 6.0), (stages.no_ratio, 3.0)])
def test_nothing_is_clipped(stage, slope):
    np.testing.assert_allclose(stage(np.log([2.0]), np.array([3.0]), 0.2), [slope])


def test_the_likeliest_arm_is_taken_whatever_the_number():
    _, tokens, _ = stages.greedy(np.array([[0.2, 0.5, 0.3]]), np.array([[[0.1], [0.99]]]))
    np.testing.assert_array_equal(tokens, [[[1], [1]]])
