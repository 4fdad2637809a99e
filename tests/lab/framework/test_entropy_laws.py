"""Laws of two numbers, fitted on the first part of a run."""

import numpy as np
import pytest

from grpo_ref.lab.framework.entropy_laws import fitted_line, predicted_by_laws

ENTROPY = np.linspace(2.0, 0.0, 20)[None]
"""The entropy falls in a straight line over 20 updates; the first 3 are fitted."""


def test_a_run_that_follows_the_law_is_predicted_exactly():
    found = predicted_by_laws(0.9 - 0.1 * np.exp(ENTROPY), ENTROPY)
    for name in ("error, exp(H)", "error, half fitted"):
        np.testing.assert_allclose(found[name], 0.0, atol=1e-12)
    # The last fifth: 4 entropies of 0, 2/19, 4/19, 6/19; the ceiling is R at an entropy of 0, 0.8.
    end = 0.9 - 0.1 * np.exp([0.0, 2 / 19, 4 / 19, 6 / 19]).mean()
    np.testing.assert_allclose(found["missed"], 0.8 - end)
    assert found["within"] == 1.0
    assert (found["excess over H"] < -0.1).all()


def test_a_run_that_is_linear_in_the_entropy_is_predicted_worse_by_the_exponential():
    found = predicted_by_laws(0.8 - 0.2 * ENTROPY, ENTROPY)
    np.testing.assert_allclose(found["error, H"], 0.0, atol=1e-12)
    np.testing.assert_array_equal(found["excess over H"], found["error, exp(H)"] - found["error, H"])
    assert found["error, exp(H)"] > 0.1
    assert found["within"] == 0.0


def test_the_error_is_the_root_mean_square_over_the_updates_that_are_not_fitted():
    reward = np.where(np.arange(20) < 3, 0.0, 0.5)[None]  # flat while it is fitted, then off by 0.5
    found = predicted_by_laws(reward, ENTROPY)
    np.testing.assert_allclose(found["error, exp(H)"], 0.5)
    np.testing.assert_allclose(found["off, exp(H)"][0, [0, 10]], [0.0, -0.5])


def test_the_line_is_the_mean_where_x_does_not_change():
    x = np.full((1, 7), 1.39009204)  # the mean of three of these is not exactly the same number
    line = fitted_line(x, np.full((1, 7), 0.364834), 0.4)
    np.testing.assert_allclose(line(x), 0.364834)


@pytest.mark.parametrize("fitted", [0.01, 0.5])
def test_at_least_two_updates_are_fitted(fitted):
    line = fitted_line(np.array([[0.0, 1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 9.0, 9.0]]), fitted)
    np.testing.assert_allclose(line(np.array([[2.0]])), 5.0)
