"""The figures of the notebooks on KL and stale data: they draw what the kernels say."""

import numpy as np

from grpo_ref import k1, k2, k3, slot
from grpo_ref.plots import frontier_figure, lines_figure, penalty_curve, penalty_figure, spread_figure

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


def test_spread_figure_shows_mean_and_percentiles():
    (axis,) = spread_figure({"one": np.arange(11.0)}, 4.0, "KL (nats)").axes
    bar, point, truth = axis.get_lines()
    np.testing.assert_allclose(bar.get_ydata(), [1.0, 9.0])
    np.testing.assert_allclose(point.get_ydata(), [5.0])
    np.testing.assert_allclose(truth.get_ydata(), [4.0, 4.0])


def test_frontier_figure_joins_the_means():
    points = {
        "a": (np.array([0.0, 2.0]), np.array([1.0, 1.0])),
        "b": (np.array([3.0, 3.0]), np.array([2.0, 4.0])),
    }
    (axis,) = frontier_figure(points, "KL (nats)", "reward").axes
    np.testing.assert_allclose(axis.get_lines()[0].get_xydata(), [[1.0, 1.0], [3.0, 3.0]])


def test_lines_figure_draws_means_and_names_its_band():
    figure = lines_figure(
        [1.0, 2.0], {"a": np.array([[0.0, 1.0], [2.0, 3.0]])}, "x (units)", "y (units)", log_x=True
    )
    (axis,) = figure.axes
    np.testing.assert_allclose(axis.get_lines()[0].get_ydata(), [1.0, 2.0])
    assert "mean of 2 seeds" in figure.legends[0].get_title().get_text()
    alone = lines_figure([1.0, 2.0], {"a": np.array([[0.0, 1.0]])}, "x (units)", "y (units)")
    assert alone.legends[0].get_title().get_text() == ""
    assert axis.get_xscale() == "log"
