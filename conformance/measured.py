"""The types of the functions that rebuild recorded numbers."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

from grpo_ref.explain.dialect import Dialect
from grpo_ref.explain.settings import Settings
from grpo_ref.recipes import Recipe

FLOAT32 = 2.0**-22
"""Error of a few roundings in float32, relative to the terms: four times half of the last digit."""

Call = Callable[[Dialect, Mapping[str, Any], SimpleNamespace], dict[str, Any]]
"""Function from a dialect, a configuration and the arrays of a case to the numbers of the case, by name."""


class Measured(NamedTuple):
    """The inputs of a trainer's metric.

    Attributes:
      settings: every key with its value.
      recipe: the recipe that the trainer computes with these settings.
      record: the (P, G, ...) arrays that the call was given.
      numbers: the results of the call. After a "loss" call, "metrics" has the metrics of `policy_loss`.
    """

    settings: Settings
    recipe: Recipe
    record: SimpleNamespace
    numbers: Mapping[str, Any]


class Rounded(NamedTuple):
    """A metric that its trainer sums in float32, whatever the precision of the loss.

    Attributes:
      value: the metric.
      size: magnitude of its terms. They may cancel, so the rounding error is relative to this and not to the
        value.
    """

    value: Any
    size: Any


Metric = Callable[[Measured], Any]
"""Function that returns a logged metric: a number, `Rounded`, or None if this part of a step does not log it."""


def counted(*names: str) -> Metric:
    """Return a metric that is the sum of these metrics of `policy_loss`."""
    return lambda measured: sum(measured.numbers["metrics"][name] for name in names)
