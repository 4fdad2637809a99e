"""Draw value and slope of surrogates against the ratio, for a good token and a bad token."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from grpo_ref.arrays import Floats
from grpo_ref.plots.axes import label, series
from grpo_ref.plots.one_token import surrogate_curve
from grpo_ref.plots.style import figure_style, new_figure
from grpo_ref.recipes import Slot

SIGNS = {"A = +1": 1.0, "A = -1": -1.0}


def surrogate_figure(
    part: Slot, *, old_prob: float = 0.2, between: tuple[float, float] = (0.01, 3.0)
) -> Figure:
    """Draw value and slope of one surrogate against the ratio, for a good token and a bad token.

    Args:
      part: the surrogate, as in a recipe; the title states its settings.
      old_prob, between: as in `surrogate_curve`.

    Returns:
      The figure. The grey dotted line is the ratio times the advantage, which is both the value and the slope
      of a surrogate that never clips.
    """
    with figure_style():
        figure = new_figure(8.5, 3.0)
        axes = figure.subplots(1, 2)
        for index, (name, advantage) in enumerate(SIGNS.items()):
            curve = surrogate_curve(part, advantage, old_prob=old_prob, between=between)
            for axis, values in zip(axes, (curve.value, curve.slope), strict=True):
                _draw_curve(axis, curve.ratios, values, index, name)
                free = "ρ A, never clipped" if index else None
                axis.plot(curve.ratios, advantage * curve.ratios, ":", color="0.5", linewidth=1, label=free)
        label(axes[0], "ratio ρ = πθ / πold", "value s")
        label(axes[1], "ratio ρ = πθ / πold", "slope ∂s/∂log πθ")
        handles, names = axes[0].get_legend_handles_labels()
        title = f"{part}    (πold = {old_prob:g})"
        figure.legend(handles, names, loc="outside upper center", title=title, ncols=3, frameon=False)
    return figure


def slopes_compared(
    parts: Mapping[str, Slot], *, old_prob: float = 0.2, between: tuple[float, float] = (0.01, 3.0)
) -> Figure:
    """Draw the slopes of several surrogates against the ratio, for good tokens and for bad tokens.

    Args:
      parts: label -> the surrogate, as in a recipe.
      old_prob, between: as in `surrogate_curve`.

    Returns:
      The figure.
    """
    with figure_style():
        figure = new_figure(9.0, 3.6)
        axes = figure.subplots(1, 2)
        for axis, (sign, advantage) in zip(axes, SIGNS.items(), strict=True):
            for index, (name, part) in enumerate(parts.items()):
                curve = surrogate_curve(part, advantage, old_prob=old_prob, between=between)
                _draw_curve(axis, curve.ratios, curve.slope, index, name)
            label(axis, "ratio ρ = πθ / πold", "slope ∂s/∂log πθ")
            axis.set_title(sign, fontsize=9)
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=4, frameon=False)
    return figure


def _draw_curve(axis: Axes, ratios: Floats, values: Floats, index: int, name: str) -> None:
    every = (20 + 25 * index, 100)
    axis.plot(ratios, values, markevery=every, label=name, **series(index))
    axis.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 5, 10]))
    if index == 0:
        axis.axvline(1.0, color="0.6", linewidth=0.7)
        axis.axhline(0.0, color="0.6", linewidth=0.7)
