"""An experiment: one claim of the literature, the arms that test it, and the predictions made beforehand.

    arms          label -> function that runs and measures many seeds at once
    predictions   which of two arms has more of a measure, and the margin within which a difference is ignored
    panels        contents of the figure beside the predictions

An arm is a function with settings; it is one of the variants that are compared. It is called with `seeds` and
`seed`. For each measure it returns one number per seed, or for a curve one number per seed and update. Arms
are compared seed by seed.

An effect on a single task may be due to that task. So an experiment may have a distribution of tasks (its
`family`). Then each call of an arm samples a task from `seed`, all seeds of the call learn this task, and
arms are compared task by task. Settings that a fair comparison needs, such as the learning rate, are chosen
for each arm separately, on tasks of the distribution that are not used for the verdict.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from grpo_ref.arrays import Floats
from grpo_ref.recipes import Recipe

Measures = dict[str, Floats]
"""Name -> (S,) one number per seed, or (S, U) one curve per seed over updates or another grid."""
Expectation = Literal["more", "less", "same"]


class Tuning(NamedTuple):
    """A setting that is chosen for an arm before the arms are compared.

    Attributes:
      setting: name of the setting.
      values: values to try.
      by: name of a measure with one number per seed. The value with the largest mean is chosen.
    """

    setting: str
    values: Sequence[Any]
    by: str


@dataclass(frozen=True)
class Arm:
    """One of the variants that an experiment compares.

    Attributes:
      run: function called as run(**settings, seeds=S, seed=base) -> Measures. The results of a seed must not
        depend on the number of seeds. With a distribution of tasks, the task is sampled from `seed`.
      settings: plain values, recipes and functions. They are part of the key of a stored result.
      tuning: setting that is chosen for this arm, or None.
    """

    run: Callable[..., Measures]
    settings: Mapping[str, Any]
    tuning: Tuning | None = None

    def at(self, value: Any) -> "Arm":
        """Return the arm with a value for its tuned setting."""
        assert self.tuning is not None
        return Arm(self.run, {**self.settings, self.tuning.setting: value})


def arm(run: Callable[..., Measures], **settings: Any) -> Arm:
    """Return the arm that runs a function with settings."""
    return Arm(run, settings)


def tuned(run: Callable[..., Measures], tuning: Tuning, **settings: Any) -> Arm:
    """Return an arm that is compared at the best value of one of its settings."""
    return Arm(run, settings, tuning)


class Prediction(NamedTuple):
    """A prediction of the claim on two arms, compared seed by seed.

    Attributes:
      says: the prediction in one sentence.
      measure: name of a measure with one number per seed.
      left: label of an arm.
      expect: "more", "less" or "same".
      right: label of another arm, or a number that theory predicts.
      margin: the largest difference that is negligible, in units of the measure.
      main: if true, the prediction decides the verdict on the claim. If no prediction is main, all decide.
    """

    says: str
    measure: str
    left: str
    expect: Expectation
    right: str | float
    margin: float = 0.0
    main: bool = False


class Clause(NamedTuple):
    """One assertion of a claim that makes several.

    Attributes:
      text: the assertion in one sentence.
      decided_by: the predictions that decide the assertion, by their sentences.
    """

    text: str
    decided_by: tuple[str, ...]


class Curves(NamedTuple):
    """A panel with a line for each arm over updates (or over `x`). The measure is (S, U).

    Attributes:
      measure: name of the curve.
      ylabel: label of the measure, with its unit.
      xlabel: label of the horizontal axis.
      x: values on the horizontal axis; by default 1, 2, ...
      arms: arms to draw; by default all that have the measure.
      log: "", "x", "y" or "xy".
    """

    measure: str
    ylabel: str
    xlabel: str = "update"
    x: Sequence[float] = ()
    arms: Sequence[str] = ()
    log: str = ""


class Grid(NamedTuple):
    """A panel with a line for each arm over the values that were tried for its setting.

    Attributes:
      ylabel: label of the measure by which the setting was chosen, with its unit.
      xlabel: label of the setting, with its unit.
      arms: arms to draw; by default all that were tuned.
      log: "", "x", "y" or "xy".
    """

    ylabel: str
    xlabel: str = "learning rate"
    arms: Sequence[str] = ()
    log: str = "x"


class Points(NamedTuple):
    """A panel with a point and an interval for each arm. The measure is (S,).

    Attributes:
      measure: name of the number.
      ylabel: label of the measure, with its unit.
      arms: arms to draw; by default all that have the measure.
      x: series name -> positions of its arms on a numeric axis, in the order of the series. By default, the
        axis has the names of the arms.
      xlabel: label of the numeric axis.
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
      name: name on the command line, and of the file in `claims`.
      title: the question that the experiment answers.
      group: part of the algorithm that the claim is about.
      claim: the claim in one sentence, as in the source.
      source: source of the claim.
      run: description of task, recipes and settings, in a few sentences.
      measured: description of the measures, with units, in a sentence or two.
      arms: label -> arm.
      predictions: predictions of the claim. Their confidence intervals are simultaneous.
      panels: one or two panels that show the effect.
      exhibit: function that returns Markdown to look at, such as samples of the policies; or None.
      family: description of how each task is sampled, in a sentence or two; "" if there is only one task.
      policy: kind of policy that learns, "table" or "network".
      beside: name of the experiment that asks the same question of a table, if this one asks it of a network;
        otherwise "".
      clauses: the assertions of a claim that makes several; `clauses.toml` has them.
    """

    name: str
    title: str
    group: str
    claim: str
    source: str
    run: str
    measured: str
    arms: Mapping[str, Arm]
    predictions: tuple[Prediction, ...]
    panels: tuple[Curves | Points | Grid, ...]
    exhibit: Callable[[], str] | None = None
    family: str = ""
    policy: Literal["table", "network"] = "table"
    beside: str = ""
    clauses: tuple[Clause, ...] = ()

    def mutated(self, change: Callable[[Recipe], Recipe]) -> "Experiment":
        """Return the experiment with all recipes in the arms' settings changed, to see it fail."""
        arms = {
            label: replace(
                one, settings={key: _changed(value, change) for key, value in one.settings.items()}
            )
            for label, one in self.arms.items()
        }
        return replace(self, arms=arms)


def _changed(value: Any, change: Callable[[Recipe], Recipe]) -> Any:
    return change(value) if isinstance(value, Recipe) else value
