import numpy as np
import pytest

from grpo_ref.plots import bandit_gradient, convergence, gradient_agreement

RNG = np.random.default_rng(0)


def test_the_bandit_shows_probabilities_advantages_and_both_gradients():
    means, logits = np.array([0.0, 1.0]), np.zeros(2)
    figure = bandit_gradient(means, logits, np.array([-0.25, 0.25]), np.array([-0.25, 0.26]))
    bars = [[bar.get_height() for bar in axis.patches] for axis in figure.axes]
    assert bars == [[0.5, 0.5], [-0.5, 0.5], [-0.25, 0.25]]
    assert figure.axes[2].get_lines()[0].get_ydata().tolist() == [-0.25, 0.26]
    assert all(axis.get_xlabel() and axis.get_ylabel() for axis in figure.axes)


def test_agreement_has_every_entry_and_its_difference():
    by_hand = RNG.normal(size=(2, 3))
    by_differences = by_hand + np.array([[0.0, 1e-9, 2e-9], [3e-9, 4e-9, 5e-9]])
    left, right = gradient_agreement(by_hand, by_differences, "slope").axes
    assert left.get_lines()[1].get_ydata() == pytest.approx(by_hand.ravel())
    assert right.get_lines()[1].get_ydata() == pytest.approx([1e-17, 1e-9, 2e-9, 3e-9, 4e-9, 5e-9], rel=1e-4)
    assert (left.get_xlabel(), left.get_ylabel()) == ("slope, by differences", "slope, by hand")


def test_convergence_draws_medians_and_a_root():
    errors = {"one": RNG.random((5, 3)), "two": RNG.random((5, 3))}
    figure = convergence([1, 4, 16], errors, "samples", "error")
    one, two, guide = figure.axes[0].get_lines()
    assert one.get_ydata().tolist() == np.median(errors["one"], axis=0).tolist()
    assert two.get_ydata().tolist() == np.median(errors["two"], axis=0).tolist()
    assert guide.get_ydata() == pytest.approx(one.get_ydata()[0] / np.array([1.0, 2.0, 4.0]))
    assert (
        "median of 5 seeds; band: their 10th to 90th percentile" in figure.legends[0].get_title().get_text()
    )
