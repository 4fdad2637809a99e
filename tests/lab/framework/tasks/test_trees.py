"""Trees: states by beginnings, and the probability of every completion."""

import numpy as np

from grpo_ref.lab.framework.tasks.trees import (
    completion_log_probs,
    completions,
    node_count,
    numbered,
    paths,
    tree_transitions,
)
from grpo_ref.learning.task import END


def test_completions_are_numbered_as_they_are_listed():
    listed = completions(3, 4)
    assert listed.shape == (81, 4)
    assert numbered(listed, 3).tolist() == list(range(81))


def test_the_automaton_walks_the_paths():
    transitions, listed = tree_transitions(2, 3, 3), completions(3, 3)
    state = np.full(len(listed), node_count(3, 3))  # the root of the second tree
    for t in range(3):
        np.testing.assert_array_equal(state, node_count(3, 3) + paths(listed, 3)[:, t])
        state = transitions[state, listed[:, t]]
    assert (state == END).all()


def test_probabilities_of_all_completions_sum_to_one():
    logits = np.random.default_rng(0).normal(size=(2, 3 * node_count(4, 2), 4))
    probs = np.exp(completion_log_probs(logits, kinds=3, length=2))
    assert probs.shape == (2, 3, 16)
    np.testing.assert_allclose(probs.sum(-1), 1.0)
