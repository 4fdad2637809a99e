"""The types of the functions that rebuild recorded numbers."""

import importlib
import pkgutil
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


def tables_of_trainers(package: str, path: list[str], name: str) -> dict[str, Mapping[str, Any]]:
    """Return the table of a name in each module of a package that has one, by the name of the module: its trainer.

    Args:
      package: full name of the package, `__name__` in its `__init__.py`.
      path: its `__path__`.
      name: name of the table, such as "METRICS".
    """
    modules = {
        each.name: importlib.import_module(f"{package}.{each.name}") for each in pkgutil.iter_modules(path)
    }
    trainers = {trainer: module for trainer, module in modules.items() if trainer != "common"}
    return {trainer: getattr(module, name) for trainer, module in trainers.items() if hasattr(module, name)}
