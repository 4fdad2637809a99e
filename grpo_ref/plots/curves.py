"""Draw the logged curves of a run, or of several runs, with events marked at their steps."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator

from grpo_ref.arrays import Floats
from grpo_ref.plots.style import COLOURS, LINES, figure_style, grid, new_figure

MOST_POINTS = 40
"""Largest number of rows that are drawn as points. More rows are a pale curve with a running mean."""
MOST_PLACES = 500
"""Largest number of places along a curve. Of more rows, the pale curve is a band."""
SHARE_OF_MEAN = 20
"""The running mean is over one of so many parts of the rows."""
FEWEST_OF_MEAN = 5
"""Fewest rows of the running mean."""
LARGEST = 1e100
"""Numbers above this size are drawn like infinite numbers, as a mark below the axis."""
LOG_FROM = 30.0
"""Positive numbers whose largest exceeds so many medians have a logarithmic axis. A tenth may be 0."""
OUTLIER_FROM = 30.0
"""A number that is farther from the median than so many ranges of the middle 80 % is an arrow at the edge."""
MOST_OUTLIERS = 0.05
"""Largest share of numbers that are outliers."""
FEWEST_FOR_OUTLIERS = 20
"""Fewest numbers of which some can be outliers."""
MOST_EVENTS = 9
"""Largest number of events that are listed below the figure."""
SHORT_LEGEND = 12
"""Largest number of letters of a legend in one line."""
OUTSIDE = "#D0450B"
"""Colour of rows that the axis cannot show."""
TOO_CLOSE = 0.045
"""Events closer than this share of the axis have one tag together."""


Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]


class Curve(NamedTuple):
    """One curve of a panel.

    Attributes:
      label: its name in the legend; "" without a legend.
      steps: (N,) step of each row, not descending.
      values: (N,) numbers; NaN and infinite numbers are marked below the axis.
      look: place in the lists of colors and line styles. Default: its place in the panel.
    """

    label: str
    steps: Floats
    values: Floats
    look: int | None = None


class Panel(NamedTuple):
    """One panel of the figure.

    Attributes:
      label: label of the vertical axis, with its unit. Shares have "(share" in it.
      curves: the curves.
      note: words for a curve that is always 0, such as the reason.
    """

    label: str
    curves: Sequence[Curve]
    note: str = ""


class Event(NamedTuple):
    """An event, marked by a vertical line in every panel.

    Attributes:
      tag: a short name above the line, such as "1".
      step: the step.
      title: the event in one sentence.
      is_certain: true for a solid line, false for a dashed line.
    """

    tag: str
    step: float
    title: str
    is_certain: bool


def curves_figure(
    panels: Sequence[Panel],
    events: Sequence[Event] = (),
    *,
    title: str = "",
    columns: int = 2,
    width: float = 7.2,
    is_explained: bool = True,
) -> Figure:
    """Draw logged curves, one panel for each quantity, with events marked at their steps.

    Few rows are drawn as points. Of many rows, the pale curve shows every row, and the line is a running mean
    over a twentieth of the rows.

    Args:
      panels: the panels, from left to right and from top to bottom.
      events: the events.
      title: text above the figure.
      columns: panels beside each other.
      width: of the figure, in inches.
      is_explained: true if the figure says how it is drawn, and lists the events below.

    Returns:
      The figure. Each panel has its own axis of steps, so that it can be read alone.

    Raises:
      ValueError: if there is no panel.
    """
    if not panels:
        raise ValueError("expected at least one curve to draw")
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    listed = events if is_explained else ()
    legends = sum(
        max((_lines_of_legend(panel) for panel in panels[row * columns : (row + 1) * columns]), default=0)
        for row in range(rows)
    )
    with figure_style():
        figure = new_figure(
            width, 1.95 * rows + 0.12 * legends + 0.17 * len(listed[:MOST_EVENTS]) + 0.4 * is_explained
        )
        axes = figure.subplots(rows, columns, squeeze=False).reshape(-1)
        limits = _limits(panels, events)
        for axis, panel in zip_longest(axes, panels):
            if panel is None:
                axis.set_visible(False)
                continue
            _draw_panel(axis, panel, limits)
            _mark(axis, events, limits)
        lines = (title, how_drawn(panels)) if is_explained else (title,)
        above = "\n".join(_plain(line) for line in lines if line)
        if above:
            figure.suptitle(above, x=0.01, ha="left", fontsize=8)
        if listed:
            _list_events(figure, listed, width)
    return figure


def _lines_of_legend(panel: Panel) -> int:
    return 1 if sum(len(curve.label) for curve in panel.curves) <= SHORT_LEGEND else len(panel.curves)


def _limits(panels: Sequence[Panel], events: Sequence[Event]) -> tuple[float, float]:
    """Return the limits of the axis of steps, the same for all panels."""
    ends = [float(end) for panel in panels for curve in panel.curves for end in curve.steps[[0, -1]]]
    ends += [event.step for event in events]
    low, high = min(ends), max(ends)
    margin = 0.03 * (high - low) if high > low else 0.5
    return low - margin, high + margin


def _draw_panel(axis: Axes, panel: Panel, limits: tuple[float, float]) -> None:
    numbers = np.concatenate([curve.values for curve in panel.curves])
    numbers = numbers[_is_drawable(numbers)]
    is_log = _needs_log(numbers)
    low, high = _edges(numbers, is_log=is_log)
    axis.set_xlim(limits)
    axis.set_xlabel("step", fontsize=8)
    axis.set_ylabel(_plain(panel.label), fontsize=8)
    axis.tick_params(labelsize=8)
    is_one = limits[1] - limits[0] == 1.0  # of one step
    axis.xaxis.set_major_locator(
        FixedLocator([sum(limits) / 2.0]) if is_one else MaxNLocator(4, integer=True)
    )
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    if is_log:
        axis.set_yscale("log")
        is_short = numbers.max() < 1e3 * numbers[numbers > 0.0].min()
        axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if is_short else (1.0,), numticks=6))
        axis.minorticks_off()
    else:
        axis.yaxis.set_major_locator(MaxNLocator(4))
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:.4g}")
    for index, curve in enumerate(panel.curves):
        kept = _is_drawable(curve.values) & (curve.values >= low) & (curve.values <= high)
        _draw_curve(axis, curve, kept, index, is_alone=len(panel.curves) <= 2)
    _note_outside(axis, panel.curves, low, high)
    grid(axis)
    if len(numbers) > 1 and np.ptp(numbers) == 0.0:
        why = f"\n({panel.note})" if panel.note and numbers[0] == 0.0 else ""
        constant = f"always {numbers[0]:.4g}{why}"
        axis.text(0.5, 0.6, constant, transform=axis.transAxes, ha="center", fontsize=7.5, alpha=0.75)
        axis.set_yticks([float(numbers[0])])
        axis.set_ylim(
            numbers[0] - max(0.5 * abs(numbers[0]), 1e-6), numbers[0] + max(0.5 * abs(numbers[0]), 1e-6)
        )
    elif "(share" in panel.label and not is_log:
        top = max(axis.get_ylim()[1], 0.01)
        axis.set_ylim(-0.03 * top, top)
    if any(curve.label for curve in panel.curves):
        handles, labels = zip(*_handles(panel.curves), strict=True)
        axis.legend(
            handles,
            labels,
            loc="upper left",
            bbox_to_anchor=(0.0, -0.27),
            fontsize=7.5,
            frameon=False,
            borderpad=0,
            handlelength=3,
            ncols=len(labels) if sum(map(len, labels)) <= SHORT_LEGEND else 1,
        )


def _draw_curve(axis: Axes, curve: Curve, kept: Flags, index: int, *, is_alone: bool) -> None:
    """Draw points if there are few rows; or else every row in pale, and a running mean."""
    look = _look(curve, index)
    steps, values = curve.steps[kept], curve.values[kept]
    if len(curve.steps) <= MOST_POINTS:
        axis.plot(steps, values, **look, linewidth=1.3, marker="o", markersize=2.5)
        if len(curve.steps) == len(values) == 1:
            axis.annotate(
                f"{values[0]:.4g}", (steps[0], values[0]), (5, 0), textcoords="offset points", fontsize=8
            )
        return
    if is_alone and len(values) > MOST_PLACES:
        parts = np.array_split(np.arange(len(values)), MOST_PLACES // 2)
        at = [float(steps[part].mean()) for part in parts]
        low = [float(values[part].min()) for part in parts]
        high = [float(values[part].max()) for part in parts]
        axis.fill_between(at, low, high, color=look["color"], alpha=0.3, linewidth=0)
    elif is_alone:
        axis.plot(steps, values, color=look["color"], linewidth=0.6, alpha=0.4)
    if len(values):
        is_log = axis.get_yscale() == "log"
        mean = np.exp(_running_mean(np.log(values))) if is_log else _running_mean(values)
        places = _spaced(len(values), MOST_PLACES)
        axis.plot(steps[places], mean[places], **look, linewidth=1.5)


def _spaced(count: int, most: int) -> Indices:
    """Return at most so many evenly spaced places among 0 ... count - 1, with both ends."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))


def _running_mean(values: Floats) -> Floats:
    """Return the mean of the rows around each row, of fewer rows at the ends."""
    width = max(len(values) // SHARE_OF_MEAN, FEWEST_OF_MEAN)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    first, last = np.maximum(at - width // 2, 0), np.minimum(at + width // 2 + 1, len(values))
    return np.asarray((sums[last] - sums[first]) / (last - first))


def _is_drawable(values: Floats) -> Flags:
    return np.asarray(np.abs(np.where(np.isfinite(values), values, np.inf)) < LARGEST)


def _needs_log(values: Floats) -> bool:
    """Return true if numbers, which are positive but for a few zeros, differ too much for a linear axis."""
    if len(values) < 2 or values.min() < 0.0 or np.mean(values == 0.0) > 0.1:
        return False
    return bool(values.max() > LOG_FROM * np.median(values))


def _edges(values: Floats, *, is_log: bool) -> tuple[float, float]:
    """Return the smallest and largest number that the axis has to show. Outliers would hide the curve."""
    if is_log:
        return float(values[values > 0.0].min()), np.inf
    if len(values) < FEWEST_FOR_OUTLIERS:
        return -np.inf, np.inf
    low, median, high = np.percentile(values, [10, 50, 90])
    far = OUTLIER_FROM * (high - low)
    is_far = np.abs(values - median) > far
    is_rare = far > 0.0 and bool(np.mean(is_far) <= MOST_OUTLIERS)
    return (float(median - far), float(median + far)) if is_rare else (-np.inf, np.inf)


def _note_outside(axis: Axes, curves: Sequence[Curve], low: float, high: float) -> None:
    """Mark the rows that the axis cannot show: arrows for outliers, crosses for NaN and infinite numbers."""
    steps = np.concatenate([curve.steps for curve in curves])
    values = np.concatenate([curve.values for curve in curves])
    good = _is_drawable(values)
    kinds = (
        (good & (values > high), "^", 0.97, "up to {:.3g}"),
        (good & (values < low), "v", 0.03, "down to {:.3g}"),
        (~good, "x", 0.03, "NaN or infinite"),
    )
    notes = []
    for rows, marker, place, about in kinds:
        if not rows.any():
            continue
        at = steps[rows]
        shown = at[_spaced(len(at), MOST_PLACES // 10)]
        axis.plot(
            shown,
            np.full(len(shown), place),
            transform=axis.get_xaxis_transform(),
            color=OUTSIDE,
            linestyle="none",
            marker=marker,
            markersize=4,
        )
        extreme = values[rows].max() if marker == "^" else values[rows].min()
        if len(at) > 1:
            notes.append(f"{len(at):,} rows: {about.format(extreme)}")
        else:
            notes.append(f"step {at[0]:,.0f}: {about if marker == 'x' else format(extreme, '.3g')}")
    if notes:  # beside the label of the axis, where no curve is
        axis.set_xlabel("step", fontsize=8, loc="left")
        axis.text(1.0, -0.2, "\n".join(notes), transform=axis.transAxes, ha="right", va="top", fontsize=7)


def _mark(axis: Axes, events: Sequence[Event], limits: tuple[float, float]) -> None:
    """Draw a line at each event, with its tag above; events that are close to each other share a tag."""
    groups: list[list[Event]] = []
    for event in sorted(events, key=lambda event: event.step):
        axis.axvline(
            event.step,
            color=mpl.rcParams["text.color"],
            alpha=0.7,
            linewidth=1.0,
            linestyle=_line(event),
            zorder=0.8,
        )
        if groups and event.step - groups[-1][0].step < TOO_CLOSE * (limits[1] - limits[0]):
            groups[-1].append(event)
        else:
            groups.append([event])
    for group in groups:
        axis.text(
            float(np.mean([event.step for event in group])),
            1.02,
            _plain(",".join(event.tag for event in group)),
            transform=axis.get_xaxis_transform(),
            ha="center",
            va="bottom",
            fontsize=7.5,
            fontweight="bold",
        )


def _line(event: Event) -> Any:
    return "-" if event.is_certain else (0, (4, 3))


def _list_events(figure: Figure, events: Sequence[Event], width: float) -> None:
    shown = events[: MOST_EVENTS if len(events) <= MOST_EVENTS else MOST_EVENTS - 1]
    most = int(15.5 * width)
    lines = [
        Line2D([], [], color=mpl.rcParams["text.color"], alpha=0.7, linestyle=_line(event)) for event in shown
    ]
    texts = [
        _plain(_shortened(f"{event.tag}  step {event.step:,.0f}: {event.title}", most)) for event in shown
    ]
    if len(shown) < len(events):
        lines.append(Line2D([], [], linestyle="none"))
        texts.append(f"{len(events) - len(shown)} more are in the report")
    figure.legend(
        lines, texts, loc="outside lower left", fontsize=7.5, frameon=False, handlelength=3, alignment="left"
    )


def how_drawn(panels: Sequence[Panel]) -> str:
    """Return how curves of many rows are drawn; "" if none has many."""
    most = max((len(curve.steps) for panel in panels for curve in panel.curves), default=0)
    if most <= MOST_POINTS:
        return ""
    pale = "every row" if most <= MOST_PLACES else "from the smallest to the largest row"
    mean = (
        "mean over a twentieth of the rows"
        if most >= FEWEST_OF_MEAN * SHARE_OF_MEAN
        else f"mean of {FEWEST_OF_MEAN} rows"
    )
    return f"line: {mean}; pale: {pale}"


def _look(curve: Curve, index: int) -> dict[str, Any]:
    place = index if curve.look is None else curve.look
    return {"color": COLOURS[place % len(COLOURS)], "linestyle": LINES[place % len(LINES)]}


def _handles(curves: Sequence[Curve]) -> Iterator[tuple[Line2D, str]]:
    for index, curve in enumerate(curves):
        # matplotlib hides labels that begin with an underscore
        yield (
            Line2D([], [], linewidth=1.5, **_look(curve, index)),
            _plain(curve.label.replace("_", " _", 1) if curve.label.startswith("_") else curve.label),
        )


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _plain(text: str) -> str:
    """Return a text that is not read as a formula, with a question mark for letters that the font lacks."""
    known = get_font(findfont(mpl.rcParams["font.sans-serif"][0])).get_charmap()
    letters = "".join(letter if letter == "\n" or ord(letter) in known else "?" for letter in text)
    return letters.replace("$", r"\$")
