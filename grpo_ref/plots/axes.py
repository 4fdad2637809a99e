"""What every axis of a figure for the notebooks has: labels, a grid, and small numbers at its ticks."""

from typing import Any

from matplotlib.axes import Axes

from grpo_ref.plots.style import COLOURS, LINES, MARKERS, grid


def label(axis: Axes, xlabel: str, ylabel: str) -> None:
    """Name both axes with their units; ticks are as small as the labels, whoever shows the figure."""
    axis.set_xlabel(xlabel)
    axis.set_ylabel(ylabel)
    axis.tick_params(labelsize=9)
    grid(axis)


def series(index: int) -> dict[str, Any]:
    """Colour, line style and marker of a line: any one of them tells it from the others."""
    return {"color": COLOURS[index], "linestyle": LINES[index], "marker": MARKERS[index], "markersize": 5}


def legend_above(axis: Axes, columns: int = 3) -> None:
    """The legend over the axis, where it can hide no curve."""
    axis.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns, fontsize=8, frameon=False, borderpad=0
    )
