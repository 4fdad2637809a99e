"""Draw arrays with one number per token: rows are completions, columns are tokens."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grpo_ref.arrays import Bools, Floats
from grpo_ref.plots.axes import label, series
from grpo_ref.plots.style import figure_style, new_figure
from grpo_ref.recipes import Slot

COLUMNS = 2


def token_grids(
    arrays: Mapping[str, Floats],
    mask: Floats,
    *,
    rows: Sequence[str] = (),
    digits: int = 3,
    sums: bool = False,
) -> Figure:
    """Draw arrays of one group as grids with the numbers written in; padding is blank.

    White is 0 and the darkest cell is the largest number of its grid. If some numbers are negative, these are
    orange and positive numbers are purple.

    Args:
      arrays: title -> (G, T).
      mask: (G, T) 1 on completion tokens.
      rows: G labels; by default o₁ to o_G.
      digits: number of decimals.
      sums: if true, write the sum of each row beside it.

    Returns:
      The figure, with two grids in a row.
    """
    group, tokens = np.shape(mask)
    wide = min(COLUMNS, len(arrays))
    lines = -(-len(arrays) // wide)
    with figure_style():
        figure = new_figure(wide * (0.52 * tokens + 1.7), lines * (0.33 * group + 0.9))
        axes = figure.subplots(lines, wide, squeeze=False).reshape(-1)
        for axis, (title, array) in zip(axes, arrays.items(), strict=False):
            _draw_grid(axis, array, np.asarray(mask) > 0, digits)
            axis.set_title(title, fontsize=9)
            axis.set_yticks(range(group), rows or [f"$o_{{{index}}}$" for index in range(1, group + 1)])
            axis.set_xticks(range(tokens), [str(t) for t in range(1, tokens + 1)])
            if sums:
                _write_sums(axis, np.where(mask, array, 0.0).sum(-1), digits)
        for axis in axes[len(arrays) :]:
            axis.set_visible(False)
    return figure


def _draw_grid(axis: Axes, array: Floats, present: Bools, digits: int) -> None:
    largest = float(np.abs(array[present]).max(initial=0.0)) or 1.0
    signed = bool((array[present] < 0.0).any())
    shown = np.where(present, array / largest, np.nan)
    colours, lowest = ("PuOr", -1.2) if signed else ("Blues", 0.0)
    axis.imshow(shown, cmap=colours, vmin=lowest, vmax=1.2, aspect="auto")
    for row, column in zip(*np.nonzero(present), strict=True):
        colour = "white" if abs(array[row, column]) > 0.75 * largest else "black"
        text = f"{array[row, column] + 0.0:.{digits}f}"
        axis.text(column, row, text, ha="center", va="center", color=colour, fontsize=7.5)
    axis.set_xlabel("token t")
    axis.tick_params(length=0, labelsize=9)
    axis.spines[:].set_visible(False)


def _write_sums(axis: Axes, sums: Floats, digits: int) -> None:
    right = axis.get_xlim()[1]
    for row, total in enumerate(sums):
        axis.text(right + 0.15, row, f"Σ = {total + 0.0:.{digits}f}", va="center", fontsize=8)


def weights_by_length(aggregates: Mapping[str, Slot], mask: Floats, max_length: int) -> Figure:
    """Draw the weight of a token and of a completion against the length of the completion.

    Args:
      aggregates: label -> the aggregation, as in a recipe.
      mask: (G, T) 1 on completion tokens; the completions should have different lengths.
      max_length: the generation budget in tokens.

    Returns:
      The figure, with logarithmic axes: the weight of one token on the left, and the weight of a completion,
      which is the sum over its tokens, on the right.
    """
    group = np.asarray(mask, dtype=float)[None]
    order = np.argsort(group[0].sum(-1))
    lengths = group[0].sum(-1)[order]
    with figure_style():
        figure = new_figure(9.0, 3.4)
        left, right = figure.subplots(1, 2)
        for index, (name, aggregate) in enumerate(aggregates.items()):
            weights = aggregate(mask=group, max_length=max_length, correction=1.0)[0][order]
            left.plot(lengths, weights.max(-1), label=name, **series(index))
            right.plot(lengths, weights.sum(-1), label=name, **series(index))
        for axis, what in ((left, "one of its tokens"), (right, "the whole completion")):
            label(axis, "length of the completion (tokens)", f"weight of {what}")
            axis.set_yscale("log")
        handles, names = left.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=3, frameon=False)
    return figure
