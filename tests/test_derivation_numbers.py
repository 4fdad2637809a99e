"""Numbers of the derivation that its code does not print, computed again without the library.

The example of docs/derivation: the tokens "a" and "." with a budget of three, "a" with probability p, and a
reward of 1 for "aa." alone. A row of `scores` is the gradient of log π in the three logits of "a".
"""

from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np
import pytest

LENGTHS = np.array([1, 2, 3, 3])  # of ".", "a.", "aa." and "aaa"
SAID = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]])  # 1 is "a"
WRITTEN = np.arange(3) < LENGTHS[:, None]
REWARDS = np.array([0.0, 0.0, 1.0, 0.0])


def token_probs(p):
    return np.where(SAID == 1, p, 1.0 - p)


def scores(p):
    return np.where(WRITTEN, SAID - p, 0.0)


def probs(p):
    return np.where(WRITTEN, token_probs(p), 1.0).prod(-1)


def step(p, sampler, weights):
    """The expected step of samples of another policy, with a constant weight for each token."""
    return (probs(sampler) * REWARDS) @ (weights * scores(p))


def error(p, sampler, weights):
    return np.linalg.norm(step(p, sampler, weights) - step(p, p, np.ones((4, 3))))


def weights_of_tokens(p, sampler):
    return token_probs(p) / token_probs(sampler)


def weights_of_sequences(p, sampler):
    return (probs(p) / probs(sampler))[:, None] * np.ones(3)


def test_step_11_weights_of_tokens_are_further_off_than_no_weights():
    """At p = 0.6 and 0.5 the gradient is (.0576, .0576, -.0864).

    Weights of tokens give (.06, .06, -.06): sqrt(2 * .0024² + .0264²) = .0266. No weights give
    (.05, .05, -.075): sqrt(2 * .0076² + .0114²) = .0157.
    """
    assert error(0.6, 0.5, weights_of_tokens(0.6, 0.5)) == pytest.approx(0.0266, abs=5e-5)
    assert error(0.6, 0.5, np.ones((4, 3))) == pytest.approx(0.0157, abs=5e-5)
    assert error(0.6, 0.5, weights_of_sequences(0.6, 0.5)) < 1e-15


@pytest.mark.parametrize(("mismatch", "ratio"), [(0.1, 0.266), (0.05, 0.261), (0.01, 0.252), (0.001, 0.250)])
def test_step_11_the_error_of_weights_of_tokens_is_of_first_order(mismatch, ratio):
    """The third logit is off by p (1 - p) (p² - 1/4) = mismatch/4 + ..., the others by second order."""
    p = 0.5 + mismatch
    found = error(p, 0.5, weights_of_tokens(p, 0.5))
    assert found / mismatch == pytest.approx(ratio, abs=6e-4)
    assert found > error(p, 0.5, np.ones((4, 3)))


def expected_token_mean(completions, baseline=1 / 8):
    """The expected step of the token mean, a sum over all batches of so many completions."""
    pushes, chances = (REWARDS - baseline)[:, None] * scores(0.5), probs(0.5)
    total = np.zeros(3)
    for batch in combinations_with_replacement(range(4), completions):
        counts = [batch.count(kind) for kind in range(4)]
        orders = factorial(completions) / prod(map(factorial, counts))
        total += (
            orders * chances[list(batch)].prod() * pushes[list(batch)].sum(0) / LENGTHS[list(batch)].sum()
        )
    return total


@pytest.mark.parametrize(("completions", "cosine"), [(1, 0.960), (2, 0.992), (4, 0.9985), (8, 0.9997)])
def test_step_9_the_expected_token_mean_has_nearly_the_direction_of_the_gradient(completions, cosine):
    """With one completion the token mean is the mean of means; step 9 prints (.0391, .0234, -.0208)."""
    gradient, found = step(0.5, 0.5, np.ones((4, 3))), expected_token_mean(completions)
    if completions == 1:
        np.testing.assert_allclose(found, [0.0391, 0.0234, -0.0208], atol=5e-5)
    assert found @ gradient / np.linalg.norm(found) / np.linalg.norm(gradient) == pytest.approx(
        cosine, abs=6e-4
    )


def test_step_6_the_limit_of_the_weight_of_a_prompt_is_the_derivative_of_twice_the_arc_sine():
    """1/sqrt(p (1 - p)) is the derivative of 2 arcsin sqrt(p), here by central differences."""
    p, h = np.array([0.05, 0.3, 0.5, 0.9]), 1e-6
    slope = (np.arcsin(np.sqrt(p + h)) - np.arcsin(np.sqrt(p - h))) / h
    np.testing.assert_allclose(1.0 / np.sqrt(p * (1.0 - p)), slope, rtol=1e-8)
