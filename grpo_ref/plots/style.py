"""What all figures share: colours and line styles that survive a greyscale print, and how they are saved."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from grpo_ref.files import replace_file

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++")
"""Okabe and Ito's colours, with a line style, a marker and a hatch of its own for each series."""


@contextmanager
def figure_style() -> Iterator[None]:
    """Small text and open axes, for the figures made inside."""
    with mpl.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        yield


def new_figure(width: float, height: float) -> Figure:
    """A figure in inches that no window needs."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, path: Path, *, dpi: int = 150) -> None:
    """Write a figure as a whole; the suffix of the file decides: PNG, PDF or SVG."""
    replace_file(path, lambda file: figure.savefig(file, format=path.suffix.removeprefix("."), dpi=dpi))


def as_svg(figure: Figure) -> bytes:
    """The figure as SVG that needs no fonts: the same bytes every time."""
    file = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "grpo-ref"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def grid(axis: Axes) -> None:
    """Faint lines behind the curves."""
    axis.grid(alpha=0.25)
    axis.set_axisbelow(True)
