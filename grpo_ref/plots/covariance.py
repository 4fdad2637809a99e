"""Draw which tokens the covariance surrogates treat differently."""

import numpy as np
from matplotlib.figure import Figure

from grpo_ref.arrays import Bools, Floats
from grpo_ref.plots.axes import label
from grpo_ref.plots.style import COLOURS, MARKERS, figure_style, new_figure


def covariance_figure(log_probs: Floats, advantages: Floats, chosen: Bools) -> Figure:
    """Draw tokens by advantage and log-probability, with contours of the covariance and the chosen tokens.

    Args:
      log_probs: (N,) log-probabilities of the tokens in nats.
      advantages: (N,) advantages of the tokens.
      chosen: (N,) true for tokens that the surrogate treats differently.

    Returns:
      The figure. The covariance of a token is (A - mean A)(log πθ - mean log πθ), which is positive at the
      upper right and at the lower left.
    """
    x, y = log_probs - log_probs.mean(), advantages - advantages.mean()
    with figure_style():
        figure = new_figure(6.0, 3.8)
        axis = figure.subplots()
        across = np.linspace(1.05 * x.min(), 1.05 * x.max(), 200)
        up = np.linspace(1.15 * y.min(), 1.15 * y.max(), 200)
        lines = axis.contour(
            across, up, np.outer(up, across), levels=(-2, -1, 0, 1, 2), colors="0.6", linewidths=0.8
        )
        axis.clabel(lines, fontsize=7)
        axis.plot(x[~chosen], y[~chosen], ".", color=COLOURS[5], label="left alone")
        axis.plot(x[chosen], y[chosen], MARKERS[1], color=COLOURS[1], label="chosen")
        label(axis, "log πθ - mean (nats)", "A - mean")
        figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return figure
