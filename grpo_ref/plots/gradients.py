"""Draw hand-derived gradients beside finite differences, and errors of sampled gradients."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from grpo_ref.arrays import Floats
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.plots.axes import label, series
from grpo_ref.plots.style import COLOURS, figure_style, new_figure


def bandit_gradient(means: Floats, logits: Floats, by_hand: Floats, by_differences: Floats) -> Figure:
    """Draw one context of a bandit: probabilities, rewards relative to their expectation, and both gradients.

    Args:
      means: (K,) mean reward of each arm.
      logits: (K,) logits of the policy.
      by_hand, by_differences: (K,) gradient of the expected reward with respect to the logits, derived by
        hand and by finite differences.

    Returns:
      The figure, with three panels.
    """
    probs, arms = policy_of(logits).probs, range(len(means))
    with figure_style():
        figure = new_figure(10.0, 3.0)
        axes = figure.subplots(1, 3)
        axes[0].bar(arms, probs, color=COLOURS[0])
        axes[1].bar(arms, means - probs @ means, color=COLOURS[1], hatch="//", edgecolor="white", linewidth=0)
        axes[2].bar(arms, by_hand, color=COLOURS[2], label="by hand")
        axes[2].plot(arms, by_differences, "kx", label="by differences")
        axes[2].legend(frameon=False)
        names = ("probability π(k)", "reward(k) - expected reward", "∂J/∂logit(k)")
        for axis, name in zip(axes, names, strict=True):
            axis.axhline(0.0, color="black", linewidth=0.7)
            axis.set_xticks(arms)
            label(axis, "arm k", name)
    return figure


def gradient_agreement(by_hand: Floats, by_differences: Floats, what: str = "gradient") -> Figure:
    """Draw a hand-derived gradient against finite differences, entry by entry.

    Args:
      by_hand, by_differences: two arrays of the same shape.
      what: name of the gradient, with its unit if it has one, for the axes.

    Returns:
      The figure: one gradient against the other on the left, and the sorted magnitudes of their differences
      on the right. A difference of exactly 0 is drawn at 1e-17.
    """
    x, y = np.ravel(by_differences), np.ravel(by_hand)
    apart = np.maximum(np.sort(np.abs(x - y)), 1e-17)
    with figure_style():
        figure = new_figure(8.5, 3.3)
        left, right = figure.subplots(1, 2)
        left.axline((0.0, 0.0), slope=1.0, color="0.6", linewidth=0.8, label="equal")
        left.plot(x, y, color=COLOURS[0], marker="o", linestyle="none", markersize=4, label="one entry")
        label(left, f"{what}, by differences", f"{what}, by hand")
        right.axhline(np.abs(y).max(), color="black", linestyle="--", linewidth=1.0, label="largest entry")
        right.plot(np.arange(1, apart.size + 1), apart, ".", color=COLOURS[1], label="one difference")
        right.set_yscale("log")
        left.xaxis.set_major_locator(MaxNLocator(5))
        label(right, "entries, in order of their difference", "|by hand - by differences|")
        left.legend(frameon=False)
        right.legend(frameon=False)
    return figure


def convergence(sizes: Sequence[int], errors: Mapping[str, Floats], xlabel: str, ylabel: str) -> Figure:
    """Draw errors against the number of samples, on logarithmic axes.

    Lines are medians over the seeds; bands run from the 10th to the 90th percentile. The dotted line starts
    at the first point of the first line and falls with the square root of the number of samples.

    Args:
      sizes: numbers of samples.
      errors: label -> (S, len(sizes)).
      xlabel, ylabel: labels of the axes, with units.

    Returns:
      The figure.
    """
    x, first = np.asarray(sizes, dtype=float), next(iter(errors.values()))
    with figure_style():
        figure = new_figure(6.5, 4.2)
        axis = figure.subplots()
        for index, (name, error) in enumerate(errors.items()):
            low, middle, high = np.percentile(error, [10, 50, 90], axis=0)
            axis.fill_between(x, low, high, color=COLOURS[index], alpha=0.18, linewidth=0)
            axis.plot(x, middle, label=name, **series(index))
        guide = np.median(first[:, 0]) * np.sqrt(x[0] / x)
        axis.plot(x, guide, color="0.4", linestyle=":", linewidth=1.0, label="proportional to 1/√N")
        axis.set(xscale="log", yscale="log")
        label(axis, xlabel, ylabel)
        title = f"line: median of {len(first)} seeds; band: their 10th to 90th percentile"
        figure.legend(loc="outside upper center", title=title, ncols=2, frameon=False)
    return figure
