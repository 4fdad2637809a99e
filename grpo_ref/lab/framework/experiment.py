"""An experiment: one claim of the literature, what is run to test it, and what is predicted beforehand.

    arms          label -> what is run and measured, for many seeds at once
    predictions   which arm should have more of what, and by how much before it matters
    panels        what the figure shows beside the predictions

An arm is a function with settings. It is called with `seeds` and `seed` and returns one number per seed for
each measure, or one number per seed and update for a curve; arms are compared seed by seed.

A phenomenon that is seen on one task may be the task's. So an experiment may have a family of tasks: each
call of an arm then draws its own task from `seed`, all seeds of the call learn it, and arms are compared task
by task. What a fair comparison needs, as the learning rate, is chosen for each arm by itself, on tasks of the
family that are never judged.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from grpo_ref.arrays import Floats
from grpo_ref.recipes import Recipe

Measures = dict[str, Floats]
"""Name -> (S,) one number per seed, or (S, U) a curve over updates or another grid."""
Expectation = Literal["more", "less", "same"]


class Tuning(NamedTuple):
    """A setting that is chosen for an arm before it is judged.

    Attributes:
      setting: its name.
      values: the grid.
      by: name of the measure, one number per seed, whose mean is largest at the value that is chosen.
    """

    setting: str
    values: Sequence[Any]
    by: str


@dataclass(frozen=True)
class Arm:
    """One side of a prediction.

    Attributes:
      run: called as run(**settings, seeds=S, seed=base) -> Measures; the results of a seed must not depend on
        the number of seeds. Where the experiment has a family, the task is drawn from `seed`.
      settings: plain values, recipes and functions; they are part of the key of a stored result.
      tuning: what is chosen for this arm, or None.
    """

    run: Callable[..., Measures]
    settings: Mapping[str, Any]
    tuning: Tuning | None = None

    def at(self, value: Any) -> "Arm":
        """The same arm with a value for what is tuned."""
        assert self.tuning is not None
        return Arm(self.run, {**self.settings, self.tuning.setting: value})


def arm(run: Callable[..., Measures], **settings: Any) -> Arm:
    """A function and its settings as an arm."""
    return Arm(run, settings)


def tuned(run: Callable[..., Measures], tuning: Tuning, **settings: Any) -> Arm:
    """An arm that is compared at the best value of one of its settings."""
    return Arm(run, settings, tuning)


class Prediction(NamedTuple):
    """What the claim predicts of two arms, seed by seed.

    Attributes:
      says: the prediction in one sentence.
      measure: name of a measure with one number per seed.
      left: label of an arm.
      expect: "more", "less" or "same".
      right: label of another arm, or a number that theory gives.
      margin: the largest difference that does not matter, in units of the measure.
      main: whether the verdict on the claim is decided by it; if none is main, all decide together.
    """

    says: str
    measure: str
    left: str
    expect: Expectation
    right: str | float
    margin: float = 0.0
    main: bool = False


class Curves(NamedTuple):
    """A panel with a line for each arm over updates (or over `x`); its measure is (S, U).

    Attributes:
      measure: name of the curve.
      ylabel: what it is, with its unit.
      xlabel: of the horizontal axis.
      x: values on it; by default 1, 2, ...
      arms: which arms; by default all that have the measure.
      log: "", "x", "y" or "xy".
    """

    measure: str
    ylabel: str
    xlabel: str = "update"
    x: Sequence[float] = ()
    arms: Sequence[str] = ()
    log: str = ""


class Grid(NamedTuple):
    """A panel with a line for each arm over the values among which its setting was chosen.

    Attributes:
      ylabel: the measure by which it was chosen, with its unit.
      xlabel: the setting, with its unit.
      arms: which arms; by default all that were tuned.
      log: "", "x", "y" or "xy".
    """

    ylabel: str
    xlabel: str = "learning rate"
    arms: Sequence[str] = ()
    log: str = "x"


class Points(NamedTuple):
    """A panel with a point and an interval for each arm; its measure is (S,).

    Attributes:
      measure: name of the number.
      ylabel: what it is, with its unit.
      arms: which arms; by default all that have the measure.
      x: series name -> the places of its arms on a numeric axis, in the order of that series; by default
        every arm stands at its own name.
      xlabel: of the numeric axis.
      log: "", "x", "y" or "xy".
    """

    measure: str
    ylabel: str
    arms: Sequence[str] = ()
    x: Mapping[str, Mapping[str, float]] = {}
    xlabel: str = ""
    log: str = ""


@dataclass(frozen=True)
class Experiment:
    """One claim and its test.

    Attributes:
      name: as given on the command line; the name of its file in `claims`.
      group: which part of the algorithm it is about.
      claim: in one sentence, as the source has it.
      source: who says so.
      run: what is run, in a few sentences: task, recipes, settings.
      measured: what is measured, with units, in a sentence or two.
      arms: label -> arm.
      predictions: what the claim predicts; their intervals hold together.
      panels: one or two pictures of the phenomenon.
      remark: a sentence that the reader of the verdict needs, or "".
      chosen: what of the environment or the predictions was chosen after a look at results, or "".
      exhibit: makes a piece of Markdown to look at, as samples of the policies; None if there is none.
      family: how each task is drawn, in a sentence or two; "" if there is but one.
      depends_on: what a verdict of "depends" depends on, as it was measured, in a few words; or "".
      beside: name of the experiment with a table as the policy whose question this one asks of a network;
        "" if there is none.
    """

    name: str
    group: str
    claim: str
    source: str
    run: str
    measured: str
    arms: Mapping[str, Arm]
    predictions: tuple[Prediction, ...]
    panels: tuple[Curves | Points | Grid, ...]
    remark: str = ""
    chosen: str = ""
    exhibit: Callable[[], str] | None = None
    family: str = ""
    depends_on: str = ""
    beside: str = ""

    def told(self, verdict: str) -> str:
        """A verdict in words, with what it depends on."""
        return f"depends on {self.depends_on}" if verdict == "depends" and self.depends_on else verdict

    def mutated(self, change: Callable[[Recipe], Recipe]) -> "Experiment":
        """The same experiment with every recipe among the arms' settings changed: to see it fail."""
        arms = {
            label: replace(
                one, settings={key: _changed(value, change) for key, value in one.settings.items()}
            )
            for label, one in self.arms.items()
        }
        return replace(self, arms=arms)


def _changed(value: Any, change: Callable[[Recipe], Recipe]) -> Any:
    return change(value) if isinstance(value, Recipe) else value
