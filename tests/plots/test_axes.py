from grpo_ref.plots.axes import label, legend_above, series
from grpo_ref.plots.style import COLOURS, LINES, MARKERS, new_figure


def test_an_axis_says_what_is_on_it():
    axis = new_figure(2.0, 2.0).subplots()
    axis.plot([0, 1], label="one", **series(1))
    label(axis, "update", "reward")
    legend_above(axis)
    (line,) = axis.get_lines()
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("update", "reward")
    assert (line.get_color(), line.get_linestyle(), line.get_marker()) == (COLOURS[1], LINES[1], MARKERS[1])
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["one"]
