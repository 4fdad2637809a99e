"""Any measure of several runs over a common axis."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from grpo_ref.arrays import Floats
from grpo_ref.plots.axes import label, series
from grpo_ref.plots.style import COLOURS, figure_style, new_figure


def lines_figure(
    x: Sequence[float], lines: Mapping[str, Floats], xlabel: str, ylabel: str, *, log_x: bool = False
) -> Figure:
    """One line a run, over any common axis.

    Lines are means over the seeds, bands run from their 10th to their 90th percentile; of a single seed there
    is no band.

    Args:
      x: (N,) places on the axis.
      lines: label -> (S, N).
      xlabel, ylabel: what the axes say, with units.
      log_x: whether the axis is logarithmic.

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
        label(axis, xlabel, ylabel)
        seeds = len(next(iter(lines.values())))
        title = f"line: mean of {seeds} seeds;\nband: their 10th to 90th percentile" if seeds > 1 else ""
        figure.legend(loc="outside right center", title=title, frameon=False)
    return figure
