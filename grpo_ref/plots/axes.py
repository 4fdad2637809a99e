"""Label and style the axes of the notebooks' figures."""

from typing import Any

from matplotlib.axes import Axes

from grpo_ref.plots.style import COLOURS, LINES, MARKERS, grid


def label(axis: Axes, xlabel: str, ylabel: str) -> None:
    """Label both axes, and set the size of the tick labels explicitly, so that notebooks do not change it."""
    axis.set_xlabel(xlabel)
    axis.set_ylabel(ylabel)
    axis.tick_params(labelsize=9)
    grid(axis)


def series(index: int) -> dict[str, Any]:
    """Return colour, line style and marker of a line; each of the three is enough to identify the line."""
    return {"color": COLOURS[index], "linestyle": LINES[index], "marker": MARKERS[index], "markersize": 5}


def legend_above(axis: Axes, columns: int = 3) -> None:
    """Put the legend above the axis, where it does not cover a curve."""
    axis.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns, fontsize=8, frameon=False, borderpad=0
    )
