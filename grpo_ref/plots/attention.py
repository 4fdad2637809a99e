"""Draw a transformer's attention, and its probability of each token of a text."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grpo_ref.arrays import Floats
from grpo_ref.plots.axes import label, legend_above
from grpo_ref.plots.style import COLOURS, HATCHES, figure_style, new_figure


def attention_figure(weights: Mapping[str, Floats], tokens: Sequence[str]) -> Figure:
    """Draw the attention weights of each head: a row for each query token, a column for each key token.

    Args:
      weights: title of a row of panels -> (H, T, T) attention weights, [head, query, key].
      tokens: T texts, written along both sides.

    Returns:
      The figure, with a row of H panels for each title; white is 0 and black is 1.
    """
    heads = len(next(iter(weights.values())))
    with figure_style():
        figure = new_figure(2.3 * heads + 0.8, 2.5 * len(weights) + 0.4)
        grid = figure.subplots(len(weights), heads, squeeze=False)
        for row, (title, maps) in zip(grid, weights.items(), strict=True):
            for head, (axis, one) in enumerate(zip(row, maps, strict=True)):
                _map(axis, one, tokens)
                axis.set_title(f"{title}, head {head + 1}", fontsize=9)
            row[0].set_ylabel("token that looks")
        for axis in grid[-1]:
            axis.set_xlabel("token looked at")
        shown = grid[0, 0].images[0]
        figure.colorbar(shown, ax=list(grid.ravel()), label="attention weight", shrink=0.6)
    return figure


def _map(axis: Axes, weights: Floats, tokens: Sequence[str]) -> None:
    axis.imshow(weights, cmap="Greys", vmin=0.0, vmax=1.0)
    places = range(len(tokens))
    axis.set_xticks(places, tokens, fontsize=7)
    axis.set_yticks(places, tokens, fontsize=7)


def token_probabilities(probs: Mapping[str, Floats], tokens: Sequence[str]) -> Figure:
    """Draw the probability of each token of one completion, under one policy or several.

    Args:
      probs: name of a policy -> (T,) probability of each token given those before it.
      tokens: T texts.

    Returns:
      The figure, with a group of bars for each token.
    """
    places, width = np.arange(len(tokens)), 0.8 / len(probs)
    with figure_style():
        figure = new_figure(max(5.0, 0.55 * len(tokens) + 2.0), 2.8)
        axis = figure.subplots()
        for index, (name, values) in enumerate(probs.items()):
            at = places + (index - (len(probs) - 1) / 2) * width
            colour, hatch = COLOURS[index], HATCHES[index]
            axis.bar(at, values, width, color=colour, hatch=hatch, edgecolor="white", linewidth=0, label=name)
        axis.set_ylim(0.0, 1.05)
        axis.set_xticks(places, [token or "end" for token in tokens])
        label(axis, "token of the completion", "probability")
        legend_above(axis, len(probs))
    return figure
