"""Draw the figures of each experiment: panels of the measures, and the predictions with their intervals."""

import textwrap
from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogLocator, MaxNLocator, NullFormatter

from grpo_ref.arrays import Floats
from grpo_ref.files import replace_file
from grpo_ref.lab.framework.experiment import Curves, Experiment, Grid, Measures, Points
from grpo_ref.lab.framework.statistics import interval
from grpo_ref.lab.framework.summary import effect
from grpo_ref.lab.framework.tuning import TunedArm
from grpo_ref.lab.framework.verdicts import ClaimResult, Finding
from grpo_ref.plots.style import (
    COLOURS,
    LINES,
    MARKERS,
    figure_style,
    grid,
    new_figure,
    small_svg,
)

ROW, PANEL, WIDTH = 1.0, 2.9, 4.3
"""Heights of a prediction and of a panel, and the width of a figure, in inches."""
OUTCOMES = {"holds": "o", "negligible": "s", "undecided": "D", "opposite": "X"}
"""Marker of each outcome of a prediction."""
FEW = 2.5
"""Number of decades of a logarithmic axis up to which each decade has room for three labels."""


class Panel(NamedTuple):
    """A panel of an experiment and its description for readers who do not see it."""

    figure: Figure
    shows: str


def plot_panels(experiment: Experiment, result: ClaimResult, folder: Path, stem: str) -> list[dict[str, str]]:
    """Write each panel of an experiment into an SVG file, `stem_1.svg` and so on.

    A page can show small panels side by side, and a phone one below the other.

    Args:
      experiment: the claim and its panels.
      result: result of the experiment.
      folder: folder of the files.
      stem: beginning of their names.

    Returns:
      For each file, its name ("file") and its description ("shows").
    """
    written = []
    for number, panel in enumerate(panels(experiment, result), start=1):
        path = folder / f"{stem}_{number}.svg"
        _write(panel.figure, path)
        written.append({"file": path.name, "shows": panel.shows})
    return written


def _write(figure: Figure, path: Path) -> None:
    svg = small_svg(figure)
    replace_file(path, lambda file: file.write(svg))


def plot_differences(findings: Sequence[Mapping[str, Any]], counted: str, path: Path) -> None:
    """Write the predictions of an experiment, with their intervals, into an SVG file.

    Args:
      findings: the predictions of a `Summary`.
      counted: "tasks" or "seeds".
      path: path of the file. Its content is `differences_figure`.
    """
    _write(differences_figure(findings, counted), path)


def panels(experiment: Experiment, result: ClaimResult) -> list[Panel]:
    """Draw the panels of an experiment, the two most important ones first.

    Lines and points are means over the seeds; bands and bars are 95 % intervals (Student's t). An arm looks
    the same in all panels. If settings were chosen, there are panels of the differences of the main
    predictions with both arms at the same value, and of the score over the values that were tried.

    Args:
      experiment: the claim and its panels.
      result: result of the experiment.

    Returns:
      The first panel of the experiment, the main differences at equal values, and its other panels.
    """
    wanted = panels_of(experiment, result)
    places = _places([_series(panel, result) for panel in wanted])
    with figure_style():
        own = []
        for panel in wanted:
            figure = new_figure(WIDTH, PANEL)
            axis = figure.subplots()
            _draw_panel(axis, panel, result, places)
            _draw_legend(axis)
            own.append(Panel(figure, _described(panel)))
        equal = []
        for finding in compared_at_equal_values(result):
            figure = new_figure(WIDTH, PANEL)
            setting = result.tuning[finding.prediction.left].setting.replace("_", " ")
            _draw_at_equal_values(figure.subplots(), finding, setting)
            equal.append(Panel(figure, f"{_difference(finding)}, over the {setting}, the same for both."))
    return [*own[:1], *equal, *own[1:]]


def _described(panel: Curves | Points | Grid) -> str:
    shown = panel.x if isinstance(panel, Points) and panel.x else panel.arms
    arms = ", ".join(f"“{arm}”" for arm in shown)
    against = f" against {panel.xlabel}" if panel.xlabel else ", by variant"
    return f"{panel.ylabel}{against}{f': {arms}' if arms else ''}.".replace("\n", " ")


def _difference(finding: Finding) -> str:
    prediction = finding.prediction
    return f"{prediction.measure}: {prediction.left} - {prediction.right}"


def panels_of(experiment: Experiment, result: ClaimResult) -> tuple[Curves | Points | Grid, ...]:
    """Return the panels of an experiment, with one of the scores if settings were chosen."""
    if not result.tuning or any(isinstance(panel, Grid) for panel in experiment.panels):
        return experiment.panels
    main = [one.prediction for one in result.findings if one.prediction.main]
    compared = [label for one in main for label in (one.left, str(one.right))]
    arms = [label for label in dict.fromkeys(compared) if label in result.tuning] or list(result.tuning)[:6]
    first = result.tuning[arms[0]]
    grid = Grid(first.by, xlabel=first.setting.replace("_", " "), arms=arms)
    return (*experiment.panels, grid)


def compared_at_equal_values(result: ClaimResult) -> list[Finding]:
    """Return the main predictions whose arms were both run at several equal values of their setting."""
    return [one for one in result.findings if one.prediction.main and len(one.at_equal) > 1]


def differences_figure(findings: Sequence[Mapping[str, Any]], counted: str) -> Figure:
    """Draw each prediction with its interval, one below the other.

    The intervals decide the verdict: if an interval lies inside the grey field, the prediction holds.
    Predictions of the same measure have the same scale.

    Args:
      findings: the predictions of a `Summary`.
      counted: "tasks" or "seeds".

    Returns:
      The figure.
    """
    scales = _scales(findings)
    with figure_style():
        figure = new_figure(WIDTH, ROW * len(findings) + 0.5)
        for axis, finding in zip(
            figure.subplots(len(findings), 1, squeeze=False).flat, findings, strict=True
        ):
            _draw_finding(axis, finding, scales[finding["measure"]], counted)
        title = "differences, with 95 % intervals for all of them together;\ngrey: the prediction holds"
        figure.suptitle(title, fontsize=9)
    return figure


def _series(panel: Curves | Points | Grid, result: ClaimResult) -> list[str]:
    """Return the names that a panel distinguishes by colour and marker: arms, or series of points."""
    if isinstance(panel, Points):
        return list(panel.x)
    if isinstance(panel, Grid):
        return list(panel.arms or result.tuning)
    return _arms(panel, result.measures)


def _places(series: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return an index of colour and marker for each name, the smallest that no name of its panels has.

    >>> _places([["base", "grpo"], ["base, hard", "grpo, hard"], ["grpo", "grpo, hard"]])
    {'base': 0, 'grpo': 1, 'base, hard': 0, 'grpo, hard': 2}
    """
    places: dict[str, int] = {}
    for name in dict.fromkeys(chain.from_iterable(series)):
        beside = chain.from_iterable(names for names in series if name in names)
        taken = {places[other] for other in beside if other in places}
        places[name] = next(number for number in count() if number not in taken)
    return places


def _draw_legend(axis: Axes) -> None:
    if axis.get_legend_handles_labels()[0]:
        axis.legend(frameon=False, fontsize=8)


def _draw_panel(
    axis: Axes, panel: Curves | Points | Grid, result: ClaimResult, places: Mapping[str, int]
) -> None:
    if isinstance(panel, Curves):
        _draw_curves(axis, panel, result.measures, places)
    elif isinstance(panel, Points):
        _draw_points(axis, panel, result.measures, places)
    else:
        _draw_grid(axis, panel, result.tuning, places)
    axis.set_ylabel(textwrap.fill(panel.ylabel, 34))
    for side in panel.log:
        _logarithmic(axis, side)
    grid(axis)


def _logarithmic(axis: Axes, side: str) -> None:
    """Make an axis logarithmic, with plain numbers at each decade; with few decades, also at 2 and 5."""
    axis.set(**{f"{side}scale": "log"})
    ticks = axis.xaxis if side == "x" else axis.yaxis
    low, high = ticks.get_view_interval()
    ticks.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < low * 10.0**FEW else (1.0,)))
    ticks.set_major_formatter(FormatStrFormatter("%g"))
    ticks.set_minor_formatter(NullFormatter())


def _draw_curves(
    axis: Axes, panel: Curves, measures: Mapping[str, Measures], places: Mapping[str, int]
) -> None:
    for label in _arms(panel, measures):
        index = places[label]
        middle, reach = interval(measures[label][panel.measure])
        x = panel.x or np.arange(1, len(middle) + 1)
        colour = COLOURS[index % len(COLOURS)]
        axis.fill_between(x, middle - reach, middle + reach, color=colour, alpha=0.18, linewidth=0)
        width = max(2.4 - 0.2 * index, 1.0)  # lines that lie on each other stay visible
        axis.plot(x, middle, color=colour, linestyle=LINES[index % len(LINES)], linewidth=width, label=label)
    axis.set_xlabel(panel.xlabel)


def _draw_at_equal_values(axis: Axes, finding: Finding, setting: str) -> None:
    """Draw the difference of a prediction over the values of the setting, both arms at the same value.

    Inside the grey field a difference is negligible.
    """
    prediction = finding.prediction
    values = list(finding.at_equal)
    mean, low, high = np.array(list(finding.at_equal.values())).T
    axis.axhspan(-prediction.margin, prediction.margin, color="0.88", linewidth=0)
    axis.axhline(0.0, color="black", linewidth=0.7)
    axis.errorbar(
        values, mean, [mean - low, high - mean], color="black", marker="o", markersize=4.5, capsize=2.5
    )
    axis.set_ylabel(textwrap.fill(_difference(finding), 34))
    axis.set_xlabel(f"{setting}, the same for both (other tasks)")
    if all(isinstance(value, float) and value > 0.0 for value in values):
        axis.set_xscale("log")
        _logarithmic(axis, "x")
    grid(axis)


def _draw_grid(axis: Axes, panel: Grid, tuning: Mapping[str, TunedArm], places: Mapping[str, int]) -> None:
    """Draw the mean score of each arm over the values tried, with a ring around the best value.

    The intervals are those of the score's deviation from the mean of its task, because tasks differ more
    than arms do.
    """
    arms = list(panel.arms or tuning)
    every = np.array([scores for label in arms for scores in tuning[label].scores.values()])
    of_task = every.mean(0) - every.mean()
    for label in arms:
        index, scores = places[label], tuning[label].scores
        means = {value: score.mean() for value, score in scores.items()}
        reaches = [interval(score - of_task)[1] for score in scores.values()]
        look: dict[str, Any] = {
            "color": COLOURS[index % len(COLOURS)],
            "linestyle": LINES[index % len(LINES)],
        }
        marker = MARKERS[index % len(MARKERS)]
        axis.plot(list(means), list(means.values()), marker=marker, markersize=4.5, label=label, **look)
        axis.errorbar(
            list(means), list(means.values()), reaches, fmt="none", capsize=2.5, ecolor=look["color"]
        )
        best = max(means, key=lambda value: means[value])
        axis.plot([best], [means[best]], "o", markersize=11, fillstyle="none", color="black")
    axis.set_xlabel(f"{panel.xlabel}; ringed: chosen")


def _draw_points(
    axis: Axes, panel: Points, measures: Mapping[str, Measures], places: Mapping[str, int]
) -> None:
    if not panel.x:
        labels = _arms(panel, measures)
        for place, label in enumerate(labels):
            _draw_series(axis, [place], [measures[label][panel.measure]], 0, "none", None)
        axis.set_xticks(range(len(labels)), [textwrap.fill(label, 14) for label in labels], fontsize=8)
        axis.tick_params(axis="x", labelrotation=30 if len(labels) > 4 else 0)
        axis.margins(x=0.15)
        return
    for series, positions in panel.x.items():
        values = [measures[label][panel.measure] for label in positions]
        name, index = series if len(panel.x) > 1 else None, places[series]
        _draw_series(axis, list(positions.values()), values, index, LINES[index % len(LINES)], name)
    axis.set_xlabel(panel.xlabel)


def _draw_series(
    axis: Axes, x: Sequence[float], values: Sequence[Floats], index: int, line: Any, label: str | None
) -> None:
    middles, reaches = zip(*(interval(value) for value in values), strict=True)
    axis.errorbar(
        x,
        middles,
        reaches,
        color=COLOURS[index % len(COLOURS)],
        marker=MARKERS[index % len(MARKERS)],
        linestyle=line,
        linewidth=1.2,
        markersize=4.5,
        capsize=2.5,
        label=label,
    )


def _arms(panel: Curves | Points, measures: Mapping[str, Measures]) -> list[str]:
    return list(panel.arms) or [label for label, arm in measures.items() if panel.measure in arm]


def _scales(findings: Sequence[Mapping[str, Any]]) -> dict[str, tuple[float, float]]:
    """Return, for each measure, the ends of an axis that holds all differences of this measure."""
    ends: dict[str, list[float]] = {}
    for finding in findings:
        margin = finding["margin"]
        ends.setdefault(finding["measure"], [0.0]).extend([finding["low"], finding["high"], -margin, margin])
    scales = {}
    for measure, edges in ends.items():
        reach = 0.06 * (max(edges) - min(edges)) or 1.0
        scales[measure] = (min(edges) - reach, max(edges) + reach)
    return scales


def _draw_finding(axis: Axes, finding: Mapping[str, Any], edges: tuple[float, float], counted: str) -> None:
    """Draw one prediction in the units of its measure, with the fraction of tasks or seeds that agree."""
    mean, low, high, margin = (finding[key] for key in ("mean", "low", "high", "margin"))
    allowed = {"more": (margin, edges[1]), "less": (edges[0], -margin), "same": (-margin, margin)}
    axis.axvspan(*allowed[finding["expect"]], color="0.88", linewidth=0)
    axis.axvline(0.0, color="black", linewidth=0.7)
    axis.errorbar(
        [mean],
        [0.0],
        xerr=[[mean - low], [high - mean]],
        color="black",
        marker=OUTCOMES[finding["outcome"]],
        markersize=5,
        capsize=3,
    )
    axis.set_xlim(*edges)
    axis.set_yticks([])
    axis.spines["left"].set_visible(False)
    axis.tick_params(axis="x", labelsize=8)
    axis.xaxis.set_major_locator(MaxNLocator(5))
    outcome = f"{finding['outcome']} ({finding['share']:.0%} of the {counted})"
    title = textwrap.fill(f"{finding['says']}: {outcome}", 58)
    axis.set_title(title, fontsize=8.5, loc="left", weight="bold" if finding["main"] else "normal")
    left, right = finding["left"], finding["right"]
    compared = left if right == 0.0 else f"{left} - {right}"
    numbers = effect(mean, low, high).replace(" ", "\N{NO-BREAK SPACE}")
    axis.set_xlabel(textwrap.fill(f"{finding['measure']}: {compared} = {numbers}", 64), fontsize=8)
