"""Pictures of the KL penalty: its estimators, and what it holds back."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from grpo_ref.arrays import Floats
from grpo_ref.plots.axes import label, legend_above, series
from grpo_ref.plots.style import COLOURS, MARKERS, figure_style, new_figure
from grpo_ref.recipes import Slot
from grpo_ref.types import Batch


def penalty_curve(part: Slot, log_ratios: Floats) -> tuple[Floats, Floats]:
    """Value and slope of a penalty against log πθ - log πref, on tokens drawn by πθ itself.

    Args:
      part: the penalty, as in a recipe.
      log_ratios: (N,) in nats.

    Returns:
      Two (N,) arrays, in nats and in nats a nat.
    """
    log_probs = np.full((1, log_ratios.size, 1), -4.0)
    batch = Batch(
        log_probs=log_probs,
        old_log_probs=log_probs,
        ref_log_probs=log_probs - log_ratios[None, :, None],
        rollout_log_probs=log_probs,
        log_ratio=np.zeros_like(log_probs),
        advantages=np.zeros_like(log_probs),
        mask=np.ones_like(log_probs),
        max_length=1,
    )
    term = part(batch)
    slope = np.broadcast_to(term.slope + term.direct, log_probs.shape)
    return term.value[0, :, 0], slope[0, :, 0]


def penalty_figure(parts: Mapping[str, Slot], *, reach: float = 2.0) -> Figure:
    """Value and slope of several penalties against log πθ - log πref.

    Args:
      parts: label -> penalty, as in a recipe; at most eight.
      reach: the axis runs from -reach to reach nats; below the reference to the left.

    Returns:
      The figure.
    """
    log_ratios = np.linspace(-reach, reach, 401)
    with figure_style():
        figure = new_figure(9.5, 3.8)
        left, right = figure.subplots(1, 2)
        for index, (name, part) in enumerate(parts.items()):
            value, slope = penalty_curve(part, log_ratios)
            style = series(index) | {"markevery": 50}
            left.plot(log_ratios, value, label=name, **style)
            right.plot(log_ratios, slope, label=name, **style)
        for axis, what in ((left, "value (nats)"), (right, "slope with respect to log πθ")):
            axis.axhline(0.0, color="black", linewidth=0.8)
            label(axis, "log πθ - log πref of the sampled token (nats)", what)
            legend_above(axis)
    return figure


def spread_figure(samples: Mapping[str, Floats], truth: float, ylabel: str) -> Figure:
    """What estimators give over and over again, beside the truth.

    Bars run from the 10th to the 90th percentile of the repetitions, the point is their mean.

    Args:
      samples: label -> (R,) repeated estimates.
      truth: what they estimate.
      ylabel: what it is, with its unit.

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


def frontier_figure(points: Mapping[str, tuple[Floats, Floats]], xlabel: str, ylabel: str) -> Figure:
    """Two final measures of several runs against each other, a point each, joined in their order.

    Points are means over the seeds, bars run from their 10th to their 90th percentile.

    Args:
      points: label -> two arrays (S,).
      xlabel, ylabel: what they are, with units.

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
