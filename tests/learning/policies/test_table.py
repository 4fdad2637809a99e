"""The table of logits: lookups, their transposes, and the softmax, by hand; slopes are in test_gradients."""

import numpy as np
import pytest

from grpo_ref.learning.policies.table import (
    entropy_gradient,
    gather,
    gather_states,
    log_softmax,
    policy_of,
    pull_back,
    scatter_add,
)

TABLE = np.log(np.array([[0.5, 0.25, 0.25], [0.1, 0.6, 0.3]]))
STATES, TOKENS = np.array([[[0, 1], [1, 1]]]), np.array([[[2, 0], [0, 1]]])


def test_a_softmax_of_log_probabilities_gives_them_back():
    policy = policy_of(TABLE)
    np.testing.assert_allclose(policy.log_probs, TABLE, atol=1e-15)
    np.testing.assert_allclose(policy.probs, np.exp(TABLE), atol=1e-15)


def test_a_temperature_of_one_half_squares_the_odds():
    """Odds 2 : 1 : 1 become 4 : 1 : 1."""
    np.testing.assert_allclose(policy_of(TABLE[:1], temperature=0.5).probs, [[4 / 6, 1 / 6, 1 / 6]])


def test_large_logits_do_not_overflow():
    np.testing.assert_allclose(log_softmax(np.array([[1e4, 0.0]])), [[0.0, -1e4]])


@pytest.mark.parametrize("temperature", [0.0, -1.0, np.nan])
def test_a_temperature_that_is_not_positive_is_refused(temperature):
    with pytest.raises(ValueError, match="temperature: expected a number > 0"):
        policy_of(TABLE, temperature=temperature)


def test_entropies_and_divergences_by_hand():
    policy = policy_of(TABLE)
    assert policy.entropies()[0] == pytest.approx(1.5 * np.log(2.0), abs=1e-15)
    uniform = np.full((2, 3), -np.log(3.0))
    assert policy.divergences(uniform)[0] == pytest.approx(np.log(3.0) - 1.5 * np.log(2.0), abs=1e-15)
    assert policy.divergences(policy.log_probs).tolist() == [0.0, 0.0]


def test_gather_looks_up_each_state_and_token():
    values = np.arange(6.0).reshape(2, 3)
    assert gather(values, STATES, TOKENS).tolist() == [[[2.0, 3.0], [3.0, 4.0]]]
    assert gather_states(np.array([7.0, 8.0]), STATES).tolist() == [[[7.0, 8.0], [8.0, 8.0]]]


def test_each_run_looks_into_its_own_table():
    tables = np.stack([np.zeros((2, 3)), np.ones((2, 3))])
    both = gather(tables, np.stack([STATES, STATES]), np.stack([TOKENS, TOKENS]))
    assert both[0].max() == 0.0
    assert both[1].min() == 1.0


def test_scatter_adds_what_falls_on_the_same_entry():
    weights = np.array([[[1.0, 10.0], [100.0, 1000.0]]])
    added = scatter_add(weights, STATES, TOKENS, (2, 3))
    assert added.tolist() == [[0.0, 0.0, 1.0], [110.0, 1000.0, 0.0]]


def test_scatter_is_the_transpose_of_gather():
    generator = np.random.default_rng(0)
    table, weights = generator.normal(size=(2, 3)), generator.normal(size=(1, 2, 2))
    forward = (gather(table, STATES, TOKENS) * weights).sum()
    backward = (table * scatter_add(weights, STATES, TOKENS, (2, 3))).sum()
    assert forward == pytest.approx(backward, rel=1e-12)


def test_pull_back_by_hand():
    """One token, 2 in state 0, of gradient 1: one-hot minus probabilities, over the temperature."""
    probs = np.exp(TABLE)
    gradient = pull_back(np.array([[[1.0]]]), np.array([[[0]]]), np.array([[[2]]]), probs, temperature=2.0)
    np.testing.assert_allclose(gradient, [[-0.25, -0.125, 0.375], [0.0, 0.0, 0.0]], atol=1e-15)


def test_the_entropy_of_a_uniform_policy_is_at_its_top():
    policy = policy_of(np.zeros((1, 3)))
    flat = entropy_gradient(np.ones((1, 1, 1)), np.zeros((1, 1, 1), dtype=int), policy)
    np.testing.assert_allclose(flat, 0.0, atol=1e-15)
