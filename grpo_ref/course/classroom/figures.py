"""Figures of a class's points: their distribution, and the outcomes of every exercise."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from grpo_ref.plots.style import HATCHES, figure_style, grid, new_figure

BARS = 20
"""Largest number of bars in the distribution."""
SHADES = ("0.25", "0.6", "0.85", "1.0")


def scores_figure(points: Sequence[float], of: float) -> Figure:
    """Draw how many students have how many points.

    Args:
      points: points of every student.
      of: largest possible number of points.

    Returns:
      The figure: a bar for each range of points, and a dashed line at the median.
    """
    edges = np.linspace(0.0, max(of, 1.0), min(BARS, max(int(of), 1)) + 1)
    with figure_style():
        figure = new_figure(6.4, 3.0)
        axis = figure.subplots()
        axis.hist(points, bins=[float(edge) for edge in edges], color="0.7", edgecolor="black", linewidth=0.6)
        if len(points):
            median = float(np.median(points))
            axis.axvline(median, color="black", linestyle="--", label=f"median {median:.1f}")
            axis.legend(frameon=False)
        axis.set_xlabel(f"points (of {of:g})")
        axis.set_ylabel("students (number)")
        axis.yaxis.set_major_locator(MaxNLocator(integer=True))
        grid(axis)
    return figure


def outcomes_figure(outcomes: Mapping[str, Mapping[str, int]]) -> Figure:
    """Draw the outcomes of every exercise: one bar per exercise, with one part per outcome.

    Args:
      outcomes: label of an exercise -> label of an outcome -> number of students; the same outcomes for each
        exercise, at most four.

    Returns:
      The figure; the parts differ by grey and hatch.
    """
    names, labels = list(outcomes), list(next(iter(outcomes.values()), ()))
    with figure_style():
        figure = new_figure(6.4, 0.17 * len(names) + 1.1)
        axis, left = figure.subplots(), np.zeros(len(names))
        for label, shade, hatch in zip(labels, SHADES, HATCHES, strict=False):
            numbers = np.array([outcomes[name][label] for name in names], dtype=float)
            axis.barh(
                names,
                numbers,
                left=left,
                label=label,
                color=shade,
                hatch=hatch,
                edgecolor="black",
                linewidth=0.4,
            )
            left += numbers
        axis.invert_yaxis()
        axis.margins(y=0.01)
        axis.tick_params(axis="y", labelsize=7)
        axis.set_xlabel("students (number)")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        figure.legend(loc="outside upper center", ncols=len(labels), frameon=False)
    return figure
