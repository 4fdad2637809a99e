"""Plots: the only module that imports matplotlib."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from grpo_ref.arrays import Floats
from grpo_ref.files import replace_file
from grpo_ref.train import Metrics

PANELS = {
    "reward": "reward",
    "kl": "KL to the reference\n(nats a completion)",
    "entropy": "entropy (nats a token)",
    "grad_norm": "gradient norm",
    "length": "length (tokens)",
    "dead_groups": "groups without contrast\n(share)",
    "clip": "clipped tokens (share)",
    "distinct_bigrams": "distinct bigrams (share)",
    "ref_log_prob": "log-likelihood under the\nreference (nats a completion)",
}
"""What is drawn, by the name of the metric."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)))
"""Okabe and Ito's colours, with a line style of its own for each run, so greyscale prints can be read too."""


def plot_dynamics(runs: Mapping[str, Sequence[Metrics]], path: Path) -> None:
    """Draw the training dynamics of one run or several; the file's suffix decides: PNG, PDF or SVG.

    Lines are means over the seeds, bands run from the 10th to the 90th percentile of the seeds.

    Args:
      runs: label -> metrics of each update, each name -> (S,).
      path: where to write.
    """
    with mpl.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(10.5, 8.0), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(3, 3, sharex=True).reshape(-1)
        for axis, (name, label) in zip(axes, PANELS.items(), strict=True):
            for index, history in enumerate(runs.values()):
                _draw(axis, _curve(name, history), index)
            axis.set_ylabel(label)
            axis.grid(alpha=0.25)
            if "(share)" in label:
                top = max(axis.get_ylim()[1], 0.01)
                axis.set_ylim(-0.03 * top, top)
        for axis in axes[-3:]:
            axis.set_xlabel("update")
        seeds = sorted({len(history[0]["reward"]) for history in runs.values()})
        title = f"line: mean of {' or '.join(map(str, seeds))} seeds; band: their 10th to 90th percentile"
        lines = axes[0].get_lines()
        columns = min(len(runs), 3)
        figure.legend(lines, runs, title=title, loc="outside upper center", ncols=columns, frameon=False)
        replace_file(path, lambda file: figure.savefig(file, format=path.suffix.removeprefix("."), dpi=150))


def _curve(name: str, history: Sequence[Metrics]) -> Floats:
    """(U, S)."""
    if name == "clip":
        return np.stack([metrics["clip_low"] + metrics["clip_high"] for metrics in history])
    return np.stack([metrics[name] for metrics in history])


def _draw(axis: Axes, curve: Floats, index: int) -> None:
    updates = np.arange(1, len(curve) + 1)
    colour, line = COLOURS[index % len(COLOURS)], LINES[index % len(LINES)]
    low, high = np.percentile(curve, [10, 90], axis=1)
    axis.fill_between(updates, low, high, color=colour, alpha=0.18, linewidth=0)
    axis.plot(updates, curve.mean(1), color=colour, linestyle=line, linewidth=1.4)
