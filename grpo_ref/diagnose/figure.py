"""Draw the curves of a diagnosed run, with its statements marked at their steps."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grpo_ref.diagnose.comparison import Runs, computed_apart, in_two_lines, one_sided, rewards_part
from grpo_ref.diagnose.facts import Facts
from grpo_ref.diagnose.log import Log, quantities
from grpo_ref.diagnose.results import Results
from grpo_ref.diagnose.statements import Statement, statements
from grpo_ref.diagnose.text import heading
from grpo_ref.plots.curves import Curve, Event, Panel, curves_figure
from grpo_ref.render.sentences import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_COMPONENTS = 6
"""Largest number of reward functions that are drawn."""
LONGEST_NAME = 32
"""Largest number of letters of the name of a reward function."""


class Curves(NamedTuple):
    """The curves of a panel.

    Attributes:
      label: label of the axis; the unit is added.
      choices: the quantities, each with its name in the legend. Only the first that is logged is drawn, unless
        `together` is true.
      together: true if all are drawn.
    """

    label: str
    choices: dict[str, str]
    together: bool = False


PANELS = (
    Curves("mean reward", {"reward": "", "score.mean": "", "shaped.mean": ""}),
    Curves("KL to the reference", {"kl": "", "kl.completion": ""}),
    Curves("entropy", {"entropy": ""}),
    Curves("mean length", {"length.mean": "", "present_length.mean": ""}),
    Curves("cut at the budget", {"truncated": "", "present_truncated": ""}),
    Curves("groups with equal rewards", {"dead_share": ""}),
    Curves("std of the rewards", {"reward_std": ""}),
    Curves("clipped", {"clip": "all", "clip_low": "ratio below 1", "clip_high": "ratio above 1"}, True),
    Curves("gradient norm", {"grad_norm": ""}),
    Curves("loss", {"loss": "", "policy_loss": ""}),
    Curves("sampler to learner", {"sampler.k3": "", "sampler.gap.mean": "", "sampler.k1": ""}),
)
"""The panels after that of the reward functions."""


def figure(diagnosis: Results) -> "Figure":
    """Draw the curves of a run, with contradictions, violations and patterns marked at the steps at which they begin.

    Raises:
      ValueError: if the log has no quantity that can be drawn.
    """
    return _figure(panels(diagnosis.log, diagnosis.facts), events(diagnosis), heading(diagnosis))


def figure_of_two(runs: Runs) -> "Figure":
    """Draw the curves of two runs on the same axes, with the statements on one run only marked.

    Raises:
      ValueError: if no log has a quantity that can be drawn.
    """
    return _figure(panels_of_two(runs), events_of_two(runs), in_two_lines(runs))


def _figure(drawn: Sequence[Panel], marked: Sequence[Event], title: str) -> "Figure":
    if not drawn:
        raise ValueError("the log has no quantity that is drawn, such as a reward, a loss or a length")
    return curves_figure(drawn, marked, title="\n".join(map(visible, title.split("\n"))))


def panels_of_two(runs: Runs) -> list[Panel]:
    """Return the panels of two runs: one for each of `PANELS` and each reward function of both runs."""
    logs = runs.first.log, runs.second.log
    apart = computed_apart(runs)
    shared = [name for name in logs[0].components if name in logs[1].components][:MOST_COMPONENTS]
    if len(shared) == 1 and all(log.column("reward") for log in logs):
        shared = []  # the reward shows the only function
    of_components = [Curves(f"{_short(name)} (mean)", {f"component.mean/{name}": ""}) for name in shared]
    first, *others = PANELS
    drawn = []
    for wanted in (first, *of_components, *others):
        curves: dict[str, list[Curve]] = {}
        for place, log in enumerate(logs):
            quantity = next((name for name in wanted.choices if log.column(name)), "")
            each = curve(log, quantity, "AB"[place], place)
            if each is not None:
                # Different quantities do not share an axis, but for rewards, whose difference the text explains.
                curves.setdefault("reward" if wanted is first else quantity, []).append(each)
        for quantity, both in curves.items():
            differs = "\n(computed differently)" if quantity in apart and len(both) == 2 else ""
            drawn.append(Panel(with_unit(wanted.label, quantity) + differs, both))
    return drawn


def events_of_two(runs: Runs) -> list[Event]:
    """Return the step at which the rewards part, and the statements on one run only that have a step."""
    statements = [(run, each) for run, only in zip("AB", one_sided(runs), strict=True) for each in only]
    marked = [
        (each.step, f"only {run}: {_undated(each)}", each.kind != "pattern")
        for run, each in statements
        if each.step is not None
    ]
    parted = rewards_part(runs.first.log, runs.second.log)
    if parted is not None:
        marked.insert(0, (int(parted.step), "the rewards differ by more than noise from here on", False))
    return [
        Event(str(number), step, visible(text), is_certain)
        for number, (step, text, is_certain) in enumerate(marked, 1)
    ]


def panels(log: Log, facts: Facts) -> list[Panel]:
    """Return the panels that a log can fill: the reward, the reward functions, and then `PANELS`."""
    first, *others = PANELS
    note = "one step per batch: every ratio is 1" if facts.on_policy else ""
    all_panels = [_panel(log, first), _components(log), *(_panel(log, each, note) for each in others)]
    return [panel for panel in all_panels if panel is not None]


def events(diagnosis: Results) -> list[Event]:
    """Return the statements that begin at a step, numbered in the order of the report."""
    dated = [each for each in statements(diagnosis) if each.step is not None]
    return [
        Event(str(number), each.step, visible(_undated(each)), each.kind != "pattern")
        for number, each in enumerate(dated, 1)
        if each.step is not None
    ]


def curve(log: Log, quantity: str, label: str = "", look: int | None = None) -> Curve | None:
    """Return the curve of a quantity; None if the log does not have the quantity."""
    column = log.column(quantity)
    if not column:
        return None
    steps, values = zip(*column, strict=True)
    return Curve(label, np.array(steps, float), np.array(values, float), look)


def with_unit(label: str, quantity: str) -> str:
    r"""Return the label of an axis with the unit of its quantity.

    >>> with_unit("entropy", "entropy")
    'entropy\n(nats per token)'
    """
    unit = quantities()[quantity.partition("/")[0]].unit
    return f"{label}\n({unit})" if unit else label


def _undated(statement: Statement) -> str:
    """Return the title without its step, which the list of events gives."""
    return statement.title.removesuffix(f", from step {statement.step} on").removesuffix(", in the whole run")


def _panel(log: Log, wanted: Curves, note: str = "") -> Panel | None:
    present = [quantity for quantity in wanted.choices if log.column(quantity)]
    if not present:
        return None
    differ = wanted.together and any(value for name in present for _, value in log.column(name))
    shown = present if differ else present[:1]
    names = wanted.choices if len(shown) > 1 else dict.fromkeys(shown, "")
    curves = [each for quantity in shown if (each := curve(log, quantity, names[quantity])) is not None]
    is_clip = "clip" in wanted.choices
    return Panel(with_unit(wanted.label, shown[0]), curves, note if is_clip else "")


def _components(log: Log) -> Panel | None:
    """Return the panel of the reward functions, if there are several or none of `PANELS` shows the reward."""
    names = log.components[:MOST_COMPONENTS]
    if not names or (len(log.components) == 1 and log.column("reward")):
        return None
    curves = [
        each for name in names if (each := curve(log, f"component.mean/{name}", _short(name))) is not None
    ]
    more = len(log.components) - len(names)
    return Panel(
        "reward functions (mean)" + (f"\n{len(names)} of {len(log.components)}" if more else ""), curves
    )


def _short(name: str) -> str:
    shown = visible(name)
    return shown if len(shown) <= LONGEST_NAME else f"{shown[: LONGEST_NAME - 1]}…"
