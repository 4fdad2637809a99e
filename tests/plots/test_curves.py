"""Logged curves: every row counts, outliers and NaN are marked, and each event is at its step."""

import numpy as np
import pytest

from grpo_ref.plots import curves_figure
from grpo_ref.plots.curves import MOST_EVENTS, MOST_POINTS, Curve, Event, Panel, how_drawn
from grpo_ref.plots.style import for_page


def panel(values, label="reward", note="", name=""):
    values = np.asarray(values, float)
    return Panel(label, [Curve(name, np.arange(1.0, len(values) + 1.0), values)], note)


def texts(axis):
    return [text.get_text() for text in axis.texts]


def test_few_rows_are_points_at_their_steps():
    (axis,) = curves_figure([panel([0.25, 0.5, 0.75])]).axes
    (line,) = axis.get_lines()
    assert list(line.get_xdata()) == [1, 2, 3]
    assert list(line.get_ydata()) == [0.25, 0.5, 0.75]
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("step", "reward")


def test_the_only_row_has_its_number_and_one_tick():
    (axis,) = curves_figure([panel([0.1875])]).axes
    assert texts(axis) == ["0.1875"]
    assert list(axis.get_xticks()) == [1.0]


def test_many_rows_are_a_pale_curve_and_a_running_mean():
    # 100 rows of 0, 1, 0, 1, ...: a mean over 5 rows has 2 or 3 ones
    (axis,) = curves_figure([panel([0.0, 1.0] * 50)]).axes
    pale, mean = axis.get_lines()
    assert len(pale.get_xdata()) == len(mean.get_xdata()) == 100
    assert set(np.round(mean.get_ydata()[2:-2], 6)) == {0.4, 0.6}
    assert how_drawn([panel([0.0] * 100)]) == "line: mean over a twentieth of the rows; pale: every row"


def test_a_hundred_thousand_rows_are_a_band_and_a_short_line():
    (axis,) = curves_figure([panel(np.tile([0.0, 1.0], 50_000))]).axes
    (mean,) = axis.get_lines()
    assert len(mean.get_xdata()) <= 500
    assert mean.get_ydata() == pytest.approx(0.5, abs=1e-3)
    (band,) = axis.collections
    assert band.get_paths()[0].get_extents().intervaly.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.nan, "step 31: NaN or infinite"),
        (1e300, "step 31: NaN or infinite"),
        (9e9, "step 31: 9e+09"),
    ],
)
def test_a_row_that_the_axis_cannot_show_is_marked(value, words):
    values = np.linspace(-1.0, 1.0, 60)
    values[30] = value
    (axis,) = curves_figure([panel(values)]).axes
    assert texts(axis) == [words]
    assert axis.get_ylim()[1] < 1.2  # the curve is not squeezed
    mark = axis.get_lines()[-1]
    assert list(mark.get_xdata()) == [31.0]


def test_a_row_of_many_sizes_has_a_logarithmic_axis():
    (axis,) = curves_figure([panel([0.0, *np.geomspace(1e-3, 1e3, 59)], "gradient norm")]).axes
    assert axis.get_yscale() == "log"
    assert texts(axis) == ["step 1: 0"]


def test_a_constant_is_named_with_its_reason():
    (axis,) = curves_figure([panel([0.0] * 50, "clipped\n(share of tokens)", "one step per batch")]).axes
    assert texts(axis) == ["always 0\n(one step per batch)"]


def test_events_stand_at_their_steps_and_are_listed():
    events = [Event("1", 20, "the reward falls", False), Event("2", 21, "R1 is broken", True)]
    figure = curves_figure([panel(np.zeros(100)), panel(np.ones(100), "entropy")], events)
    for axis in figure.axes:
        assert [line.get_xdata()[0] for line in axis.get_lines() if line.get_xdata()[0] in (20, 21)] == [
            20,
            21,
        ]
        assert "1,2" in texts(axis)  # too close for two tags
    listed = [text.get_text() for text in figure.legends[0].get_texts()]
    assert listed == ["1  step 20: the reward falls", "2  step 21: R1 is broken"]


def test_the_list_of_events_is_cut():
    events = [Event(str(number), number, "x" * 500, True) for number in range(1, 31)]
    listed = [text.get_text() for text in curves_figure([panel([1.0, 2.0])], events).legends[0].get_texts()]
    assert len(listed) == MOST_EVENTS
    assert listed[-1] == "22 more are in the report"
    assert max(map(len, listed)) < 150


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["$x_1$", "_hidden", "准确", "a" * 30, r"\frac{"])
def test_any_name_can_be_drawn(name):
    figure = curves_figure([panel([1.0, 2.0], name, name=name)], [Event("1", 1, name, True)], title=name)
    assert b"<svg" in for_page(lambda: figure, "a", name).encode()


def test_no_panel_is_an_error():
    with pytest.raises(ValueError, match="expected at least one curve"):
        curves_figure([])


def test_a_figure_of_a_page_has_the_colour_of_its_text_and_names_of_its_own():
    def draw():
        return curves_figure(
            [panel([0.0] * (MOST_POINTS + 1))], [Event("1", 3, "a", True)], is_explained=False
        )

    svg = for_page(draw, "one", "a <curve>")
    assert svg.startswith('<svg role="img" aria-label="a &lt;curve&gt;"')
    assert "currentColor" in svg
    assert "#000000" not in svg
    assert "<metadata" not in svg
    ids = svg.count('id="')
    assert ids == svg.count('id="one-') > 0
    assert svg.count("href=") == svg.count('href="#one-')
