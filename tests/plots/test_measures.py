import numpy as np

from grpo_ref.plots import frontier_figure, intervals_figure, lines_figure, spread_figure


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


def test_whole_numbers_have_whole_ticks():
    figure = lines_figure(range(19), {"a": np.zeros((1, 19))}, "x (units)", "y (units)")
    figure.canvas.draw()
    (axis,) = figure.axes
    assert all(float(tick).is_integer() for tick in axis.get_xticks())


def test_intervals_that_reach_zero_are_empty():
    figure = intervals_figure({"up": (0.3, 0.1), "nothing": (0.1, 0.2)}, "difference (share)")
    (axis,) = figure.axes
    _, up, _, _, nothing, _, _ = axis.get_lines()
    assert up.get_xdata() == [0.3]
    assert [point.get_markerfacecolor() == "white" for point in (up, nothing)] == [False, True]
    assert [text.get_text() for text in axis.get_yticklabels()] == ["up", "nothing"]
    full, empty = figure.legends[0].get_lines()
    assert [point.get_markerfacecolor() == "white" for point in (full, empty)] == [False, True]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["does not reach 0", "reaches 0"]
