"""Draw the picture of docs/turns.md: `python docs/turns_picture.py`."""

import sys
from pathlib import Path

import numpy as np
import turns_example as example
from derivation_panels import bars, lines, save_svg
from matplotlib.figure import Figure

from grpo_ref.plots.style import figure_style, new_figure

FOLDER = Path(__file__).parent / "turns"


def draw() -> Figure:
    """Draw the reward with and without the tool's tokens, and the expected advantage of the first turn."""
    with figure_style():
        figure = new_figure(8.0, 2.9)
        left, right = figure.subplots(1, 2)
        curves = {
            "policy's tokens": example.trained(tool_tokens=False),
            "policy's and tool's tokens": example.trained(tool_tokens=True),
        }
        lines(left, np.arange(401), curves, "update", "expected reward J")
        for limit in (example.ZERO, example.ZERO**2 + (1.0 - example.ZERO) ** 2):
            left.axhline(limit, color="0.4", linestyle=":", linewidth=1)
        kinds = ("call, right", "call, wrong", "no call")
        bars(right, kinds, example.credit_of_first_turn(), "episode", "expected advantage")
    return figure


def main(folder: Path) -> None:
    """Write the picture into the folder."""
    save_svg(draw(), folder / "turns.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
