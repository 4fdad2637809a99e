"""Draw the terms of `grpo_objective`, and the objective as a function of one ratio."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grpo_ref.arrays import Floats
from grpo_ref.objective import LOG_OFFSET, Numbers, grpo_objective
from grpo_ref.plots.axes import label, legend_above
from grpo_ref.plots.style import COLOURS, HATCHES, LINES, MARKERS, figure_style, new_figure


def objective_terms(
    rhos: Numbers,
    A: Numbers,
    pi_theta_old: Numbers,
    pi_theta_ref: Numbers,
    epsilon: float = 0.2,
    beta: float = 0.01,
) -> Figure:
    """Draw every term of `grpo_objective`: ratios, minimum, both distributions and the terms of their KL.

    Args:
      rhos, A, pi_theta_old, pi_theta_ref, epsilon, beta: as in `grpo_objective`.

    Returns:
      The figure: four panels with a bar or mark for each completion. The title states the sum of all terms.
    """
    ratio, advantage, old, ref = (np.asarray(x, dtype=float) for x in (rhos, A, pi_theta_old, pi_theta_ref))
    gains = {
        "ρ A": ratio * advantage,
        "clip(ρ) A": np.clip(ratio, 1.0 - epsilon, 1.0 + epsilon) * advantage,
    }
    least = np.minimum(*gains.values())
    policy, reference = ratio * old / (ratio * old).sum(), ref / ref.sum()
    terms = policy * np.log(policy / reference + LOG_OFFSET)
    total = grpo_objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon, beta)
    with figure_style():
        figure = new_figure(9.5, 5.6)
        axes = figure.subplots(2, 2).reshape(-1)
        _draw_ratios(axes[0], ratio, epsilon)
        _draw_bars(axes[1], gains, "objective")
        places = np.arange(len(least))
        axes[1].hlines(least, places - 0.4, places + 0.4, "black", label=f"smaller (mean {least.mean():.4f})")
        _draw_bars(axes[2], {"p, the policy": policy, "q, the reference": reference}, "probability")
        _draw_bars(axes[3], {f"p log(p/q) (sum {terms.sum():.4f})": terms}, "nats")
        for axis in axes:
            axis.margins(y=0.1)
            legend_above(axis)
        figure.suptitle(f"J = {least.mean():.6f} - {beta:g} · {terms.sum():.6f} = {total:.6f}", fontsize=11)
    return figure


def _draw_ratios(axis: Axes, ratio: Floats, epsilon: float) -> None:
    inside = f"clip range {1.0 - epsilon:g} to {1.0 + epsilon:g}"
    axis.axhspan(1.0 - epsilon, 1.0 + epsilon, color="0.88", linewidth=0, label=inside)
    axis.axhline(1.0, color="black", linewidth=0.7)
    axis.plot(ratio, color=COLOURS[0], marker=MARKERS[0], linestyle="none", label="ρ = πθ / πold")
    _name_completions(axis, len(ratio), "ratio ρ")


def _draw_bars(axis: Axes, series: Mapping[str, Floats], unit: str) -> None:
    """Draw bars side by side for each completion, the second series hatched."""
    wide = 0.7 / len(series)
    for index, (name, values) in enumerate(series.items()):
        places = np.arange(len(values)) + (index - (len(series) - 1) / 2) * wide
        colour, hatch = COLOURS[index], HATCHES[index]
        axis.bar(places, values, wide, label=name, color=colour, hatch=hatch, edgecolor="white", linewidth=0)
    axis.axhline(0.0, color="black", linewidth=0.7)
    _name_completions(axis, len(values), unit)


def _name_completions(axis: Axes, count: int, unit: str) -> None:
    axis.set_xticks(range(count), [f"$o_{{{index}}}$" for index in range(1, count + 1)])
    axis.set_xlim(-0.6, count - 0.4)
    label(axis, "completion", unit)


def ratio_sweep(
    rhos: Numbers,
    A: Numbers,
    pi_theta_old: Numbers,
    pi_theta_ref: Numbers,
    epsilon: float = 0.2,
    betas: Sequence[float] = (0.0, 0.01),
    *,
    index: int = 0,
    highest: float = 2.0,
) -> Figure:
    """Draw the objective against one of the ratios, everything else held constant.

    Args:
      rhos, A, pi_theta_old, pi_theta_ref, epsilon: as in `grpo_objective`.
      betas: weights of the KL; one line each.
      index: index of the ratio that varies, from 0.
      highest: largest value of the ratio; the smallest is near 0.

    Returns:
      The figure. The clip range is grey, and the given ratio is marked.
    """
    turned = np.repeat(np.asarray(rhos, dtype=float)[None], 400, axis=0)
    turned[:, index] = np.linspace(0.01, highest, len(turned))
    with figure_style():
        figure = new_figure(6.5, 3.6)
        axis = figure.subplots()
        axis.axvspan(1.0 - epsilon, 1.0 + epsilon, color="0.88", linewidth=0, label="clip range")
        for number, beta in enumerate(betas):
            rest, colour = (A, pi_theta_old, pi_theta_ref, epsilon, beta), COLOURS[number]
            values = [grpo_objective(ratios, *rest) for ratios in turned]
            axis.plot(turned[:, index], values, color=colour, linestyle=LINES[number], label=f"β = {beta:g}")
            axis.plot(rhos[index], grpo_objective(rhos, *rest), color=colour, marker=MARKERS[number])
        label(axis, f"ratio of completion $o_{{{index + 1}}}$", "objective J")
        axis.legend(frameon=False)
    return figure
