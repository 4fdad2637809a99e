"""Draw measures of several runs: over a common axis, as repeated estimates, or one against another."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from grpo_ref.arrays import Floats
from grpo_ref.plots.axes import label, series
from grpo_ref.plots.style import COLOURS, MARKERS, figure_style, new_figure


def lines_figure(
    x: Sequence[float], lines: Mapping[str, Floats], xlabel: str, ylabel: str, *, log_x: bool = False
) -> Figure:
    """Draw one line per run over a common axis.

    Lines are means over the seeds; bands run from the 10th to the 90th percentile. A single seed has no band.

    Args:
      x: (N,) positions on the axis.
      lines: label -> (S, N).
      xlabel, ylabel: labels of the axes, with units.
      log_x: if true, the horizontal axis is logarithmic.

    Returns:
      The figure.
    """
    with figure_style():
        figure = new_figure(6.5, 3.8)
        axis = figure.subplots()
        for index, (name, values) in enumerate(lines.items()):
            low, high = np.percentile(values, [10, 90], axis=0)
            axis.fill_between(x, low, high, color=COLOURS[index], alpha=0.18, linewidth=0)
            axis.plot(x, values.mean(0), label=name, **series(index))
        axis.set_xscale("log" if log_x else "linear")
        if not log_x and all(float(place).is_integer() for place in x):
            axis.locator_params("x", integer=True)
        label(axis, xlabel, ylabel)
        seeds = len(next(iter(lines.values())))
        title = f"line: mean of {seeds} seeds;\nband: their 10th to 90th percentile" if seeds > 1 else ""
        figure.legend(loc="outside right center", title=title, frameon=False)
    return figure


def spread_figure(samples: Mapping[str, Floats], truth: float, ylabel: str) -> Figure:
    """Draw the spread of repeated estimates beside the true value.

    Bars run from the 10th to the 90th percentile of the repetitions; the point is their mean.

    Args:
      samples: label -> (R,) repeated estimates.
      truth: true value.
      ylabel: label of the estimated quantity, with its unit.

    Returns:
      The figure.
    """
    with figure_style():
        figure = new_figure(6.5, 3.4)
        axis = figure.subplots()
        for index, values in enumerate(samples.values()):
            low, high = np.percentile(values, [10, 90])
            axis.plot([index, index], [low, high], color=COLOURS[index], linewidth=3, alpha=0.5)
            axis.plot(index, values.mean(), MARKERS[index], color=COLOURS[index], markersize=7)
        axis.axhline(truth, color="black", linestyle="--", linewidth=1.0, label="exact")
        axis.set_xticks(range(len(samples)), list(samples))
        axis.margins(x=0.2)
        label(axis, "estimator", ylabel)
        repetitions = len(next(iter(samples.values())))
        figure.suptitle(
            f"point: mean of {repetitions} repetitions; bar: their 10th to 90th percentile", fontsize=9
        )
        axis.legend(frameon=False)
    return figure


def intervals_figure(rows: Mapping[str, tuple[float, float]], xlabel: str) -> Figure:
    """Draw numbers with their intervals, one below the other, and a line at 0.

    A number whose interval excludes 0 has a filled point, any other number an empty point; see the legend.

    Args:
      rows: label -> (number, half-width of its interval).
      xlabel: label of the numbers, with their unit and the meaning of the intervals.

    Returns:
      The figure.
    """
    with figure_style():
        figure = new_figure(7.5, 0.36 * len(rows) + 1.2)
        axis = figure.subplots()
        axis.axvline(0.0, color="black", linewidth=0.8)
        full: dict[str, Any] = {"color": COLOURS[0], "marker": "o"}
        empty = full | {"markerfacecolor": "white"}
        for row, (middle, reach) in enumerate(rows.values()):
            style = full if abs(middle) > reach else empty
            axis.errorbar(middle, row, xerr=reach, capsize=3.0, **style)
        axis.set_yticks(range(len(rows)), list(rows))
        axis.invert_yaxis()
        label(axis, xlabel, "")
        points = [Line2D([], [], **style) for style in (full, empty)]
        figure.legend(
            points, ["does not reach 0", "reaches 0"], loc="outside upper center", ncols=2, frameon=False
        )
    return figure


def frontier_figure(points: Mapping[str, tuple[Floats, Floats]], xlabel: str, ylabel: str) -> Figure:
    """Draw two final measures against each other: one point per run, joined in the order of the runs.

    Points are means over the seeds; bars run from the 10th to the 90th percentile.

    Args:
      points: label -> two arrays (S,).
      xlabel, ylabel: labels of the measures, with units.

    Returns:
      The figure.
    """
    with figure_style():
        figure = new_figure(6.5, 4.2)
        axis = figure.subplots()
        middles = np.array([[values.mean() for values in pair] for pair in points.values()])
        axis.plot(*middles.T, color="0.6", linewidth=1.0, zorder=1)
        for index, (name, (x, y)) in enumerate(points.items()):
            reach = [np.abs(np.percentile(v, [10, 90]) - v.mean())[:, None] for v in (x, y)]
            style: dict[str, Any] = {"color": COLOURS[index], "marker": MARKERS[index], "capsize": 2.5}
            axis.errorbar(
                x.mean(), y.mean(), xerr=reach[0], yerr=reach[1], label=name, linestyle="none", **style
            )
        label(axis, xlabel, ylabel)
        seeds = len(next(iter(points.values()))[0])
        title = f"point: mean of {seeds} seeds; bars: their 10th to 90th percentile"
        figure.legend(loc="outside right center", title=title.replace("; ", ";\n"), frameon=False)
    return figure
