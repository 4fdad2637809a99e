"""Draw the picture of docs/averages.md: `python docs/averages_picture.py`."""

import sys
from pathlib import Path

import averages_example as example
import numpy as np
from averages_example import Configuration
from derivation_panels import save_svg
from matplotlib.figure import Figure

from grpo_ref.plots.axes import label, series
from grpo_ref.plots.style import figure_style, new_figure

FOLDER = Path(__file__).parent / "averages"
DRAWN = {
    "TRL grpo": Configuration("trl", ("loss_type=grpo",)),
    "TRL dapo": Configuration("trl"),
    "TRL bnpo": Configuration("trl", ("loss_type=bnpo",)),
    "EasyR1 seq": Configuration("easy_r1", ("loss_avg_mode=seq",)),
    "SkyRL prompt_mean": Configuration("skyrl", ("loss_reduction=prompt_mean",)),
}


def draw() -> Figure:
    """Draw the weight of a token in each completion, with one and with four micro-batches."""
    places = np.arange(4)
    names = [
        f"prompt {prompt}\n{length:,}" for prompt, row in enumerate(example.LENGTHS, 1) for length in row
    ]
    with figure_style():
        figure = new_figure(8.0, 3.2)
        for axis, count in zip(figure.subplots(1, 2, sharey=True), (1, 4), strict=True):
            for index, (name, configuration) in enumerate(DRAWN.items()):
                weights = example.weights(configuration, count).max(axis=-1).ravel()
                # Equal weights lie side by side.
                axis.plot(
                    places + 0.13 * (index - 2),
                    weights,
                    label=name,
                    **(series(index) | {"linestyle": "none"}),
                )
            axis.set_xticks(places, names)
            axis.set_yscale("log")
            axis.set_ylim(1e-4, 1e-1)
            axis.set_title("1 micro-batch" if count == 1 else f"{count} micro-batches", fontsize=9)
            label(axis, "tokens of the completion", "weight of each token" if count == 1 else "")
        handles, labels = axis.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=5, fontsize=8, frameon=False)
    return figure


def main(folder: Path) -> None:
    """Write the picture into the folder."""
    save_svg(draw(), folder / "averages.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
