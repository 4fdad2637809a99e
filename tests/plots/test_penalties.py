import numpy as np

from grpo_ref import slot
from grpo_ref.penalties import k1, k2, k3
from grpo_ref.plots import penalty_curve, penalty_figure

V = np.array([-1.0, 0.0, 2.0])


def test_penalty_curves_by_hand():
    value, slope = penalty_curve(slot(k1), V)
    np.testing.assert_allclose(value, V)
    np.testing.assert_allclose(slope, [1.0, 1.0, 1.0])
    value, slope = penalty_curve(slot(k2), V)
    np.testing.assert_allclose(value, [0.5, 0.0, 2.0])
    np.testing.assert_allclose(slope, V)
    value, slope = penalty_curve(slot(k3), V)
    np.testing.assert_allclose(value, [np.e - 2.0, 0.0, np.exp(-2.0) + 1.0], atol=1e-15)
    np.testing.assert_allclose(slope, [1.0 - np.e, 0.0, 1.0 - np.exp(-2.0)], atol=1e-15)


def test_penalty_figure_draws_both():
    left, right = penalty_figure({"k1": slot(k1), "k3": slot(k3)}, reach=1.0).axes
    np.testing.assert_allclose(left.get_lines()[0].get_ydata()[[0, -1]], [-1.0, 1.0])
    np.testing.assert_allclose(right.get_lines()[0].get_ydata(), 1.0)
    assert "nats" in left.get_xlabel()
    assert "slope" in right.get_ylabel()
