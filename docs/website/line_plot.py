"""Draw small line plots as SVG elements of a page. They take the page's colours, light or dark.

A plot is narrow, and its text is as large as the page's. On a phone, one plot is below the other.
"""

from collections.abc import Iterable
from html import escape
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Floats

WIDTH, HEIGHT = 340, 240
LEFT, RIGHT, TOP, BOTTOM = 50, 328, 26, 196
TICKS = 5


class Line(NamedTuple):
    """A line of a plot: N points, a class of `site.css` for its look, and a label beside one of its points.

    Attributes:
      x, y: (N,) the points.
      look: "good" or "bad" for the sign of the advantage, "only" without one, "grpo" for GRPO's line.
      label: text beside the point `at`.
      at: index of that point.
      dots: whether the points are marked, because only they have a meaning.
    """

    x: Floats
    y: Floats
    look: str
    label: str = ""
    at: int = -1
    dots: bool = False


class Plot(NamedTuple):
    """A plot: its title, the labels of its axes, its lines, and the numbers that must be inside its frame."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    inside: tuple[float, ...] = ()


def drawn(plot: Plot, alternative: str) -> str:
    """Return a plot with axes, ticks and labels."""
    place = _Place(plot)
    grid = [*_ticks_below(place), *_ticks_beside(place)]
    texts = [
        _text((LEFT + RIGHT) / 2, HEIGHT - 8, plot.x_label, "middle"),
        f'<text transform="rotate(-90 13 {(TOP + BOTTOM) / 2:.0f})" x="13" y="{(TOP + BOTTOM) / 2:.0f}"'
        f' text-anchor="middle">{escape(plot.y_label)}</text>',
        _text(LEFT, 14, plot.title, "start", "title"),
    ]
    labels = [_label(place, line) for line in plot.lines if line.label]
    frame = f'<path class="axis" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>'
    inside = "".join([*grid, frame, *(_drawn(place, line) for line in plot.lines), *texts, *labels])
    head = f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(alternative)}">'
    return f"{head}{inside}</svg>"


def thumbnail(plot: Plot) -> str:
    """Return a plot without text. The caption of the card says what the plot shows."""
    place = _Place(plot)
    zero = f'<path class="axis" d="M{LEFT} {place.y(0.0):.1f}H{RIGHT}"/>' if place.holds(0.0) else ""
    frame = f'<path class="axis" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>'
    inside = "".join([frame, zero, *(_drawn(place, line) for line in plot.lines)])
    box = f"{LEFT - 6} {TOP - 6} {RIGHT - LEFT + 12} {BOTTOM - TOP + 12}"
    return f'<svg class="plot thumbnail" viewBox="{box}" aria-hidden="true">{inside}</svg>'


class _Place:
    """Turns numbers into places of the plot."""

    def __init__(self, plot: Plot) -> None:
        x = np.concatenate([line.x for line in plot.lines])
        y = np.concatenate([*(line.y for line in plot.lines), plot.inside])
        self.left, self.right = float(x.min()), float(x.max())
        low, high = float(y.min()), float(y.max())
        margin = 0.06 * (high - low or 1.0)
        self.low, self.high = low - margin, high + margin

    def x(self, value: float) -> float:
        return LEFT + (value - self.left) / (self.right - self.left) * (RIGHT - LEFT)

    def y(self, value: float) -> float:
        return BOTTOM - (value - self.low) / (self.high - self.low) * (BOTTOM - TOP)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def ticks(low: float, high: float) -> list[float]:
    """Return at most six round numbers between two numbers.

    >>> ticks(0.0, 2.1), ticks(-130.0, 95.0)
    ([0.0, 0.5, 1.0, 1.5, 2.0], [-100.0, -50.0, 0.0, 50.0])
    """
    rough = (high - low) / TICKS
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * 0.999)
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return [round(float(step * k), 12) + 0.0 for k in np.arange(first, last + 1)]


def _ticks_below(place: _Place) -> Iterable[str]:
    for value in ticks(place.left, place.right):
        x = place.x(value)
        yield f'<path class="grid" d="M{x:.1f} {TOP}V{BOTTOM}"/>'
        yield _text(x, BOTTOM + 17, _number(value), "middle")


def _ticks_beside(place: _Place) -> Iterable[str]:
    for value in ticks(place.low, place.high):
        y = place.y(value)
        look = "axis" if value == 0.0 else "grid"
        yield f'<path class="{look}" d="M{LEFT} {y:.1f}H{RIGHT}"/>'
        yield _text(LEFT - 6, y + 4, _number(value), "end")


def _number(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def _drawn(place: _Place, line: Line) -> str:
    points = [(place.x(x), place.y(y)) for x, y in zip(line.x, line.y, strict=True)]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in _without_middles(points))
    dots = [f'<circle class="{line.look}" cx="{x:.1f}" cy="{y:.1f}" r="3.2"/>' for x, y in points]
    return f'<path class="{line.look}" d="{path}"/>' + "".join(dots * line.dots)


def _without_middles(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Drop points where the line goes straight on: its slope is that after the last kept point."""
    slopes = [(y1 - y) / (x1 - x) for (x, y), (x1, y1) in pairwise(points)]
    kept, last = points[:1], slopes[0]
    for point, slope in zip(points[1:-1], slopes[1:], strict=True):
        if abs(slope - last) > 0.03:
            kept.append(point)
            last = slope
    return [*kept, points[-1]]


def _label(place: _Place, line: Line) -> str:
    x, y = place.x(float(line.x[line.at])), place.y(float(line.y[line.at]))
    side = "end" if x > (LEFT + RIGHT) / 2 else "start"
    # good tokens' lines mostly rise and bad tokens' lines mostly fall, so this side of them is free
    is_below = y < TOP + 18 or (line.look == "bad" and y < BOTTOM - 18)
    y = min(max(y + 16 if is_below else y - 7, TOP + 10), BOTTOM - 5)
    return _text(x - 4 if side == "end" else x + 4, y, line.label, side, f"label {line.look}")


def _text(x: float, y: float, text: str, side: str, look: str = "") -> str:
    mark = f' class="{look}"' if look else ""
    return f'<text{mark} x="{x:.0f}" y="{y:.0f}" text-anchor="{side}">{escape(text)}</text>'
