"""Draw the picture of docs/speed.md from the figures in docs/speed: `python docs/speed_picture.py`."""

import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from derivation_panels import save_svg
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tables import LIBRARIES, chief_works, fastest, measured

from grpo_ref.plots.axes import label
from grpo_ref.plots.style import COLOURS, LINES, MARKERS, figure_style, new_figure

FOLDER = Path(__file__).parent / "speed"
GROWTH = {
    ("tokens of a loss", "policy_loss"): "tokens of a loss",
    ("vocabulary of 2048 rows", "policy_loss_from_logits"): "vocabulary of 2048 rows of logits",
    ("seeds", "train_many"): "seeds of an update",
}
"""Size and function -> name of the line."""
FILLED = {"AMD EPYC": "full", "Intel Xeon": "none"}
"""Processor -> how its markers are filled."""


def draw() -> Figure:
    """Draw the ratios to the other libraries, and the growth of three costs, on both processors."""
    with figure_style():
        figure = new_figure(9.0, 3.6)
        ratios, growth = figure.subplots(1, 2, width_ratios=(3, 2))
        draw_ratios(ratios)
        draw_growth(growth)
    return figure


def draw_ratios(axis: Axes) -> None:
    """Draw a median and a range for each work, library and processor; above 1, grpo_ref is faster."""
    names: list[str] = []
    for work, processor, sides, _ in chief_works():
        if work not in names:
            names.append(work)
        for index, forms in enumerate(LIBRARIES.values()):
            values = fastest(sides, forms, next(iter(sides.values())))
            place = -names.index(work) + 0.2 * (1 - index) - 0.08 * (processor != "AMD EPYC")
            style = {"color": COLOURS[index], "marker": MARKERS[index], "fillstyle": FILLED[processor]}
            if values:
                axis.plot([min(values), max(values)], [place, place], color=COLOURS[index], linewidth=0.8)
                axis.plot(median(values), place, linestyle="none", markersize=4, **style)
    for index, name in enumerate(LIBRARIES):
        axis.plot([], [], linestyle="none", marker=MARKERS[index], color=COLOURS[index], label=name)
    for processor, fill in FILLED.items():
        axis.plot([], [], linestyle="none", marker="o", color="black", fillstyle=fill, label=processor)
    axis.axvline(1.0, color="black", linewidth=0.8)
    axis.set_xscale("log")
    axis.set_xticks([0.1, 0.2, 0.5, 1, 2, 5, 10, 20], ["0.1", "0.2", "0.5", "1", "2", "5", "10", "20"])
    axis.minorticks_off()
    axis.set_yticks([-place for place in range(len(names))], [name.replace(", ", ",\n", 1) for name in names])
    label(axis, "time of the library / time of grpo_ref", "")
    axis.legend(loc="upper left", fontsize=7, frameon=False)


def draw_growth(axis: Axes) -> None:
    """Draw milliseconds over three decades of a size, with the range of the rounds."""
    for index, ((case, side), name) in enumerate(GROWTH.items()):
        for processor, costs in each_processor(case, side):
            sizes = [int(size) for size in costs]
            relative = [size / sizes[0] for size in sizes]
            rounds = list(costs.values())
            style = {"color": COLOURS[index], "marker": MARKERS[index], "linestyle": LINES[index]}
            style |= {"fillstyle": FILLED[processor], "markersize": 4}
            axis.plot(
                relative, [*map(median, rounds)], label=name if processor == "AMD EPYC" else None, **style
            )
            axis.fill_between(
                relative, [*map(min, rounds)], [*map(max, rounds)], color=COLOURS[index], alpha=0.15
            )
    axis.set_xscale("log")
    axis.set_yscale("log")
    label(axis, "size, relative to the smallest one", "ms")
    axis.legend(loc="upper left", fontsize=7, frameon=False)


def each_processor(case: str, side: str) -> Iterable[tuple[str, dict[str, list[float]]]]:
    """Yield each processor with the milliseconds of each round, by size."""
    for work, processor, sides in measured("growth", "milliseconds"):
        if work == case:
            yield processor, sides[side]


def main(folder: Path) -> None:
    """Write the picture into the folder."""
    save_svg(draw(), folder / "speed.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
