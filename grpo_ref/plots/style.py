"""Style and save figures, with colours and line styles that survive printing in greyscale."""

import html
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from grpo_ref.files import replace_file

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++")
"""Okabe and Ito's colours; each series also has its own line style, marker and hatch."""


OF_PAGE = "#010203"
"""Stands for the colour of a page's text, which SVG calls currentColor and matplotlib does not know."""

COORDINATE = re.compile(rb'(?<=[ "ML,])(-?\d+\.\d)\d+')
"""A number in a drawing, which needs one decimal."""
TAG = re.compile(rb"<[^>]*>")

ON_DARK = "#56B4E9"
"""Replaces the first colour on a dark page."""


@contextmanager
def figure_style() -> Iterator[None]:
    """Use small text and open axes for figures that are made inside this context."""
    with mpl.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return a figure that needs no window; width and height are in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, path: Path, *, dpi: int = 150) -> None:
    """Write a figure to a file, all or nothing; the suffix decides between PNG, PDF and SVG."""
    replace_file(path, lambda file: figure.savefig(file, format=path.suffix.removeprefix("."), dpi=dpi))


def as_svg(figure: Figure) -> bytes:
    """Return the figure as SVG that needs no fonts and has the same bytes every time."""
    file = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "grpo-ref"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def small_svg(figure: Figure) -> bytes:
    """Return the figure as a small SVG: its texts stay texts, and its coordinates have one decimal."""
    # Verdana is as wide as DejaVu Sans, for which the texts are placed
    look: dict[Any, Any] = {"svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans", "Verdana"]}
    with mpl.rc_context(look):
        # numbers between the tags are texts, which keep their digits
        return TAG.sub(lambda tag: COORDINATE.sub(rb"\1", tag[0]), as_svg(figure))


def for_page(draw: Callable[[], Figure], name: str, alternative: str) -> str:
    """Return a figure as an SVG element for a page of HTML. Its text has the colour of the page's text.

    Args:
      draw: draws the figure.
      name: begins the identifiers in the element. Each element of a page needs its own name.
      alternative: description of the figure, for readers who do not see it.
    """
    keys = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    look: dict[Any, str] = {"figure.facecolor": "none", "axes.facecolor": "none"} | dict.fromkeys(
        keys, OF_PAGE
    )
    with mpl.rc_context(look):
        svg = as_svg(draw()).decode()
    svg = re.sub(r"(?s)^.*?<svg |<metadata>.*?</metadata>|<title>.*?</title>", "", svg)
    svg = re.sub(r'\b(?:width|height)="[\d.]+pt"', "", svg, count=2)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg).replace(OF_PAGE, "currentColor")
    # browsers that do not know light-dark() keep the first of the two colours
    svg = re.sub(
        rf"(stroke|fill): {COLOURS[0]}",
        rf"\g<0>; \1: light-dark({COLOURS[0]}, {ON_DARK})",
        svg,
        flags=re.IGNORECASE,
    )
    label = html.escape(alternative)
    return f'<svg role="img" aria-label="{label}" style="width:100%;height:auto" {svg}'


def grid(axis: Axes) -> None:
    """Draw faint grid lines behind the curves."""
    axis.grid(alpha=0.25)
    axis.set_axisbelow(True)
