"""Draw the two panels that each picture of the derivation has, with lines or with bars."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grpo_ref.arrays import Floats
from grpo_ref.files import replace_file
from grpo_ref.plots.axes import label, legend_above, series
from grpo_ref.plots.style import COLOURS, HATCHES, figure_style, new_figure, small_svg

PICTURES: dict[str, Callable[[], Figure]] = {}
"""Every picture, by the name of the function that draws it."""


def picture(draw: Callable[[Axes, Axes], None]) -> Callable[[Axes, Axes], None]:
    """Make a picture of a function that draws two panels."""

    def drawn() -> Figure:
        with figure_style():
            figure = new_figure(8.0, 2.9)
            draw(*figure.subplots(1, 2))
        return figure

    PICTURES[draw.__name__] = drawn
    return draw


def lines(
    axis: Axes, x: Sequence[float] | Floats, curves: Mapping[str, object], xlabel: str, ylabel: str
) -> None:
    """Draw a line for each curve, with few markers."""
    for index, (name, curve) in enumerate(curves.items()):
        every = max(len(x) // 8, 1)
        axis.plot(x, curve, label=name, **(series(index) | {"markevery": (index * every // 3, every)}))
    label(axis, xlabel, ylabel)
    legend_above(axis, columns=4)


def bars(axis: Axes, names: Sequence[str], heights: Mapping[str, object], xlabel: str, ylabel: str) -> None:
    """Draw groups of bars."""
    width = 0.8 / len(heights)
    for index, (name, height) in enumerate(heights.items()):
        places = np.arange(len(names)) + (index - (len(heights) - 1) / 2) * width
        style = {"color": COLOURS[index], "hatch": HATCHES[index], "edgecolor": "white", "linewidth": 0}
        axis.bar(places, height, width, label=name, **style)
    axis.axhline(0.0, color="black", linewidth=0.8)
    axis.set_xticks(range(len(names)), names)
    label(axis, xlabel, ylabel)
    legend_above(axis, columns=4)


def save_svg(figure: Figure, path: Path) -> None:
    """Write a picture as a small SVG, all or nothing."""
    replace_file(path, lambda file: file.write(small_svg(figure)))
