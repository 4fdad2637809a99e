"""Draw the training dynamics of one run or several, by default nine curves."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grpo_ref.arrays import Floats
from grpo_ref.learning.curves import Metrics
from grpo_ref.plots.style import COLOURS, LINES, figure_style, grid, new_figure, save

PANELS = {
    "reward": "reward",
    "kl": "KL to the reference\n(nats per completion)",
    "entropy": "entropy (nats per token)",
    "grad_norm": "gradient norm",
    "length": "length (tokens)",
    "dead_groups": "groups with equal rewards\n(share)",
    "clip": "clipped tokens (share)",
    "distinct_bigrams": "distinct bigrams (share)",
    "ref_log_prob": "log-likelihood under the\nreference (nats per completion)",
}
"""Metrics of the default panels, with their labels."""
OTHERS = {
    "correct": "right answers (share)",
    "right": "right answers (share)",
    "real_name": "names of the census (share)",
    "reward_width": "width of the rewards\n(std over the batch)",
    "kept_groups": "groups that the filter kept\n(share)",
    "truncated": "completions without an end\n(share)",
    "approx_kl": "KL from old to new policy\n(nats per token)",
    "ratio_max": "largest ratio",
    "ess": "effective sample size (share)",
}
"""Labels of metrics that are drawn only on request."""
CLIP = ("clip_low", "clip_high")
"""Metrics whose sum is drawn as "clip"."""
COLUMNS = 3


def plot_dynamics(runs: Mapping[str, Sequence[Metrics]], path: Path) -> None:
    """Draw the training dynamics of one run or several into a PNG, PDF or SVG file.

    Args:
      runs: label -> metrics of each update, each name -> (S,).
      path: path of the file. It shows the panels of `PANELS` that all runs can fill; if there are none,
        other metrics that all runs have.

    Raises:
      ValueError: if the runs have no metric in common.
    """
    with figure_style():
        save(dynamics_figure(runs, _shared(runs)), path)


def _shared(runs: Mapping[str, Sequence[Metrics]]) -> list[str]:
    """Return the panels that all runs can fill, or else at most nine metrics that all runs have."""
    first, *others = (history[0] for history in runs.values())
    shared = [name for name in first if all(name in other for other in others)]
    if not shared:
        raise ValueError("the runs have no metric in common that could be drawn")
    panels = [name for name in PANELS if name in shared or (name == "clip" and {*CLIP} <= {*shared})]
    return panels or shared[: len(PANELS)]


def dynamics_figure(runs: Mapping[str, Sequence[Metrics]], names: Sequence[str] = tuple(PANELS)) -> Figure:
    """Draw the training dynamics of one run or several, one panel for each metric.

    Lines are means over the seeds; bands run from the 10th to the 90th percentile of the seeds.

    Args:
      runs: label -> metrics of each update, each name -> (S,).
      names: metrics to draw, three in a row; by default the nine of `PANELS`. "clip" is clip_low plus
        clip_high.

    Returns:
      The figure. A metric without a label in `PANELS` or `OTHERS` is labelled with its name.
    """
    rows = -(-len(names) // COLUMNS)
    with figure_style():
        figure = new_figure(10.5, 2.4 * rows + 0.8)
        axes = figure.subplots(rows, COLUMNS, sharex=True, squeeze=False).reshape(-1)
        for axis, name in zip(axes, names, strict=False):
            _draw_panel(axis, name, runs)
        for axis in axes[len(names) :]:
            axis.set_visible(False)
        for axis in axes[max(len(names) - COLUMNS, 0) : len(names)]:
            axis.set_xlabel("update")
            axis.tick_params(labelbottom=True)
        seeds = sorted({len(next(iter(history[0].values()))) for history in runs.values()})
        many = f"line: mean of {' or '.join(map(str, seeds))} seeds; band: their 10th to 90th percentile"
        title = "one seed" if seeds == [1] else many
        lines, columns = axes[0].get_lines(), min(len(runs), 3)
        figure.legend(lines, runs, title=title, loc="outside upper center", ncols=columns, frameon=False)
    return figure


def _draw_panel(axis: Axes, name: str, runs: Mapping[str, Sequence[Metrics]]) -> None:
    label = (PANELS | OTHERS).get(name, name.replace("_", " "))
    curves = [_curve(name, history) for history in runs.values()]
    for index, curve in enumerate(curves):
        _draw(axis, curve, index)
    if not any(curve.any() for curve in curves):
        why = " (with one step per batch it has to be)" if name == "clip" else ""
        axis.text(0.5, 0.5, f"always 0{why}", transform=axis.transAxes, ha="center", fontsize=8, color="0.35")
    axis.set_ylabel(label)
    grid(axis)
    if "(share)" in label:
        top = max(axis.get_ylim()[1], 0.01)
        axis.set_ylim(-0.03 * top, top)


def _curve(name: str, history: Sequence[Metrics]) -> Floats:
    """Return the values (U, S) of one panel."""
    if name == "clip":
        return np.stack([metrics[CLIP[0]] + metrics[CLIP[1]] for metrics in history])
    return np.stack([metrics[name] for metrics in history])


def _draw(axis: Axes, curve: Floats, index: int) -> None:
    updates = np.arange(1, len(curve) + 1)
    colour, line = COLOURS[index % len(COLOURS)], LINES[index % len(LINES)]
    low, high = np.percentile(curve, [10, 90], axis=1)
    axis.fill_between(updates, low, high, color=colour, alpha=0.18, linewidth=0)
    axis.plot(updates, curve.mean(1), color=colour, linestyle=line, linewidth=1.4)
