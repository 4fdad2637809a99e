"""Surrogates: value and slope against the ratio, for a good token and a bad one."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from grpo_ref.arrays import Floats
from grpo_ref.plots.axes import label, series
from grpo_ref.plots.style import figure_style, new_figure
from grpo_ref.recipes import Slot
from grpo_ref.types import Batch

SIGNS = {"A = +1": 1.0, "A = -1": -1.0}


class SurrogateCurve(NamedTuple):
    """A surrogate as a function of the ratio.

    Attributes:
      ratios: (N,) πθ/πold.
      value: (N,) what one token adds to the objective.
      slope: (N,) how strongly it pushes its own log-probability, with both parts of the Term.
    """

    ratios: Floats
    value: Floats
    slope: Floats


def surrogate_curve(
    part: Slot, advantage: float, *, old_prob: float = 0.2, between: tuple[float, float] = (0.01, 3.0)
) -> SurrogateCurve:
    """A surrogate on completions of one token each, one for every ratio.

    With one token per completion, the ratio of a sequence is that of its token. The vocabulary has two
    tokens: this one and "any other".

    Args:
      part: the surrogate, as in a recipe.
      advantage: of all tokens.
      old_prob: πold of the token; what depends on probabilities depends on it.
      between: the smallest and the largest ratio; 3.0 at πold = 0.2 is a probability of 0.6.

    Raises:
      ValueError: if a ratio is not positive, or so large that the token would be certain or more.
    """
    lowest, highest = between
    if not 0.0 < lowest < highest < 1.0 / old_prob:
        raise ValueError(f"between: expected ratios from above 0 to below 1/{old_prob:g}, got {between}")
    ratios = np.linspace(lowest, highest, 600)
    term = part(_one_token_each(ratios, advantage, old_prob))
    shape = (1, ratios.size, 1)
    value, slope = (np.broadcast_to(x, shape).reshape(-1) for x in (term.value, term.slope + term.direct))
    return SurrogateCurve(ratios, value, slope)


def _one_token_each(ratios: Floats, advantage: float, old_prob: float) -> Batch:
    probs = (ratios * old_prob)[None, :, None]
    old = np.full_like(probs, old_prob)
    ones = np.ones_like(probs)
    return Batch(
        log_probs=np.log(probs),
        old_log_probs=np.log(old),
        ref_log_probs=np.log(old),
        rollout_log_probs=np.log(old),
        log_ratio=np.log(probs / old),
        advantages=advantage * ones,
        mask=ones,
        max_length=1,
        noise=0.0 * ones,
        top_log_probs=np.log(np.stack([probs, 1.0 - probs], axis=-1)),
        top_old_log_probs=np.log(np.stack([old, 1.0 - old], axis=-1)),
        correction=ones,
    )


def surrogate_figure(
    part: Slot, *, old_prob: float = 0.2, between: tuple[float, float] = (0.01, 3.0)
) -> Figure:
    """Value and slope of one surrogate against the ratio, for a good token and a bad one.

    Args:
      part: the surrogate, as in a recipe; its settings are in the title.
      old_prob, between: as in `surrogate_curve`.

    Returns:
      The figure; dotted in grey is the ratio times the advantage, which is both the value and the slope of a
      surrogate that never clips.
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
    """The slopes of several surrogates against the ratio, in one panel for good tokens and one for bad.

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
