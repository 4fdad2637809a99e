"""A reward model learned from preferences: the law of the choices, the likelihood's slope, its maximum."""

import math

import numpy as np
import pytest

from grpo_ref.learning.preferences import fit, log_likelihood, preferred

# worth of the two -> P(the first is liked better) = 1 / (1 + exp(second - first))
CHANCES = {
    "equal": (1.0, 1.0, 1 / 2),
    "odds of three to one": (math.log(3.0), 0.0, 3 / 4),
    "the other way round": (0.0, math.log(3.0), 1 / 4),
    "far apart": (0.0, 2000.0, 0.0),
}


@pytest.mark.parametrize(("first", "second", "chance"), CHANCES.values(), ids=CHANCES)
def test_how_often_the_first_is_preferred(first, second, chance):
    uniforms = (np.arange(1000) + 0.5) / 1000
    assert preferred(np.full(1000, first), np.full(1000, second), uniforms).mean() == chance


def test_likelihood_by_hand():
    """Margins log 3 and -log 3: σ is 3/4 and 1/4, so the slope is (1/4 d₁ + 3/4 d₂) / 2 - 0.1 w."""
    weights = np.array([math.log(3.0), 0.0])
    differences = np.array([[1.0, 0.0], [-1.0, 2.0]])
    value, slope = log_likelihood(weights, differences, prior=0.1)
    assert value == pytest.approx((math.log(3 / 4) + math.log(1 / 4)) / 2 - 0.05 * math.log(3.0) ** 2)
    np.testing.assert_allclose(slope, [-1 / 4 - 0.1 * math.log(3.0), 3 / 4], rtol=1e-12)


def test_the_slope_is_that_of_the_value():
    generator = np.random.default_rng(0)
    weights, differences = generator.normal(size=5), generator.normal(size=(7, 5))
    _, slope = log_likelihood(weights, differences, prior=0.3)
    for step in 1e-5 * np.eye(5):
        above, below = (log_likelihood(weights + sign * step, differences, prior=0.3)[0] for sign in (1, -1))
        assert (above - below) / 2e-5 == pytest.approx(slope @ step / 1e-5, abs=1e-9)


def test_the_fit_without_a_prior_gives_the_odds_that_were_seen():
    """Three of four choices for the one with the feature: σ(w) = 3/4, so w = log 3."""
    weights = fit(np.array([[1.0], [1.0], [1.0], [-1.0]]), prior=0.0)
    np.testing.assert_allclose(weights, [math.log(3.0)], rtol=1e-9)


def test_the_prior_holds_what_every_choice_agrees_on():
    """At the maximum the two pulls are equal: σ(-w) = prior w."""
    (weight,) = fit(np.array([[1.0]]), prior=0.25)
    assert 1.0 / (1.0 + math.exp(weight)) == pytest.approx(0.25 * weight, rel=1e-9)
