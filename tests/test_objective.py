"""`grpo_objective`: the problem's own examples, a twin in pure Python, and every way to misuse it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_ref import grpo_objective

EXAMPLE = {
    "rhos": [1.2, 0.8, 1.1],
    "A": [1.0, 1.0, 1.0],
    "pi_theta_old": [0.9, 1.1, 1.0],
    "pi_theta_ref": [1.0, 0.5, 1.5],
}


def test_reference_example():
    assert round(grpo_objective(*EXAMPLE.values(), 0.2, 0.01), 6) == 1.032749


def test_the_kl_of_the_reference_example():
    """The objective is linear in beta, and its slope is minus the KL."""
    kl = grpo_objective(**EXAMPLE, beta=0.0) - grpo_objective(**EXAMPLE, beta=1.0)
    assert kl == pytest.approx(0.0584404, abs=5e-8)


def test_matching_policies_make_the_kl_vanish():
    """1e-10 stands inside the logarithm, so the KL is 1e-10 and not 0."""
    objective = grpo_objective([1, 1], [0.5, 0.25], [0.3, 0.7], [0.3, 0.7], beta=1.0)
    assert objective == pytest.approx(0.375 - 1e-10, abs=1e-15)


BY_HAND = {
    "large ratio, positive advantage: clipped to 1.2": ([2.0], [1.0], 0.2, 1.2),
    "small ratio, positive advantage: not clipped": ([0.5], [1.0], 0.2, 0.5),
    "small ratio, negative advantage: clipped to 0.8": ([0.5], [-1.0], 0.2, -0.8),
    "large ratio, negative advantage: not clipped": ([2.0], [-1.0], 0.2, -2.0),
    "epsilon counts": ([2.0], [1.0], 0.5, 1.5),
    "no room at all": ([2.0], [1.0], 0.0, 1.0),
    "the mean of 1.2, 0.5 and -2": ([2.0, 0.5, 2.0], [1.0, 1.0, -1.0], 0.2, -0.1),
}


@pytest.mark.parametrize(("rhos", "advantages", "epsilon", "value"), BY_HAND.values(), ids=BY_HAND)
def test_surrogate_by_hand(rhos, advantages, epsilon, value):
    ones = [1.0] * len(rhos)
    assert grpo_objective(rhos, advantages, ones, ones, epsilon, 0.0) == pytest.approx(value, abs=1e-15)


def test_kl_by_hand():
    """p = (2·1, 1·2)/4 is fair, q = (3, 1)/4: the KL is log 2 - log(3)/2, and the surrogate 0."""
    objective = grpo_objective([2.0, 1.0], [0.0, 0.0], [1.0, 2.0], [3.0, 1.0], beta=10.0)
    assert objective == pytest.approx(-10 * (math.log(2) - math.log(3) / 2), abs=1e-8)


def twin(rhos, advantages, old, ref, epsilon, beta):
    """The formula once more, in plain Python numbers."""
    surrogate = 0.0
    for rho, advantage in zip(rhos, advantages, strict=True):
        surrogate += min(rho * advantage, max(1 - epsilon, min(1 + epsilon, rho)) * advantage)
    policy = [rho * p for rho, p in zip(rhos, old, strict=True)]
    kl = 0.0
    for p, q in zip(policy, ref, strict=True):
        p, q = p / math.fsum(policy), q / math.fsum(ref)
        kl += p * math.log(p / q + 1e-10)
    return surrogate / len(rhos) - beta * kl


POSITIVE = st.floats(0.01, 10.0)
ROWS = st.lists(st.tuples(POSITIVE, st.floats(-5, 5), POSITIVE, POSITIVE), min_size=1, max_size=8)


@given(ROWS, st.floats(0.0, 0.99), st.floats(0.0, 2.0))
def test_agrees_with_its_twin(rows, epsilon, beta):
    columns = list(zip(*rows, strict=True))
    assert grpo_objective(*columns, epsilon, beta) == pytest.approx(
        twin(*columns, epsilon, beta), rel=1e-12, abs=1e-12
    )


@given(ROWS, st.floats(0.1, 10.0))
def test_only_the_shape_of_the_distributions_counts(rows, scale):
    rhos, advantages, old, ref = (np.array(column) for column in zip(*rows, strict=True))
    plain = grpo_objective(rhos, advantages, old, ref)
    assert grpo_objective(rhos, advantages, old * scale, ref / scale) == pytest.approx(
        plain, rel=1e-12, abs=1e-12
    )


def test_larger_beta_lowers_the_objective_when_the_kl_is_positive():
    values = [grpo_objective(**EXAMPLE, beta=beta) for beta in (0.0, 0.01, 0.1, 1.0)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 4


def test_returns_a_python_float_and_leaves_its_inputs_alone():
    arrays = {name: np.array(values) for name, values in EXAMPLE.items()}
    assert type(grpo_objective(**arrays)) is float
    for name, array in arrays.items():
        assert array.tolist() == EXAMPLE[name]


def test_lists_tuples_and_integers_will_do():
    expected = grpo_objective([2.0, 1.0], [1.0, -1.0], [1.0, 2.0], [3.0, 1.0])
    assert grpo_objective((2, 1), [1, -1], np.array([1, 2]), np.array([3, 1], dtype=np.int32)) == expected
    assert grpo_objective([0.0, 1.0], [1, 1], [1, 1], [1, 1]) == pytest.approx(
        0.5 - 0.01 * math.log(2), abs=1e-9
    )


NAMES = list(EXAMPLE)
BAD_VALUES = {
    "empty": ([], r"{name}: expected a non-empty one-dimensional sequence, got shape \(0,\)"),
    "two-dimensional": ([[1.0, 2.0, 3.0]], r"{name}: expected .* one-dimensional .* got shape \(1, 3\)"),
    "a number": (1.0, r"{name}: expected .* one-dimensional .* got shape \(\)"),
    "words": (["a", "b", "c"], r"{name}: expected a sequence of numbers, got \['a', 'b', 'c'\]"),
    "ragged": ([[1.0], [1.0, 2.0], [3.0]], r"{name}: expected a sequence of numbers, got"),
    "NaN": ([1.0, math.nan, 1.0], r"{name}: expected finite values, got nan at index 1"),
    "infinite": ([1.0, 1.0, -math.inf], r"{name}: expected finite values, got -inf at index 2"),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("value", "message"), BAD_VALUES.values(), ids=BAD_VALUES)
def test_bad_values_are_named(name, value, message):
    with pytest.raises(ValueError, match=message.format(name=name)):
        grpo_objective(**EXAMPLE | {name: value})


@pytest.mark.parametrize("name", NAMES)
def test_a_length_of_its_own_is_named(name):
    with pytest.raises(ValueError, match=f"expected one common length, got .*{name} 2"):
        grpo_objective(**EXAMPLE | {name: [1.0, 2.0]})


@pytest.mark.parametrize("name", ["rhos", "pi_theta_old", "pi_theta_ref"])
def test_negative_values_are_named(name):
    with pytest.raises(ValueError, match=rf"{name}: expected no negative values, got -0\.1 at index 1"):
        grpo_objective(**EXAMPLE | {name: [1.0, -0.1, 1.0]})


@pytest.mark.parametrize("name", ["rhos", "pi_theta_old"])
def test_a_distribution_that_sums_to_zero_is_named(name):
    with pytest.raises(ValueError, match=rf"{name}.*: expected a distribution with a positive.* sum of 0\.0"):
        grpo_objective(**EXAMPLE | {name: [0.0, 0.0, 0.0]})


@pytest.mark.parametrize("ref", [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
def test_a_zero_reference_probability_is_refused_with_the_reason(ref):
    with pytest.raises(
        ValueError, match=r"pi_theta_ref: expected positive .* the KL divides by the reference"
    ):
        grpo_objective(**EXAMPLE | {"pi_theta_ref": ref})


def test_a_sum_beyond_all_bounds_is_named():
    with pytest.raises(ValueError, match=r"rhos . pi_theta_old: expected a distribution .* sum of inf"):
        grpo_objective([1e200], [0.0], [1e200], [1.0])


@pytest.mark.parametrize("epsilon", [-0.1, 1.0, math.nan])
def test_epsilon_out_of_range_is_named(epsilon):
    with pytest.raises(ValueError, match=f"epsilon: expected 0 <= epsilon < 1, got {epsilon}"):
        grpo_objective(**EXAMPLE, epsilon=epsilon)


@pytest.mark.parametrize("beta", [-0.1, math.inf, math.nan])
def test_beta_out_of_range_is_named(beta):
    with pytest.raises(ValueError, match=f"beta: expected a finite number >= 0, got {beta}"):
        grpo_objective(**EXAMPLE, beta=beta)
