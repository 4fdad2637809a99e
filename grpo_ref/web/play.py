"""Training in a page: settings as the page has them, then some updates at a time, for one run or several."""

import inspect
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.learning.config import TrainConfig, config_for
from grpo_ref.learning.curves import Metrics
from grpo_ref.learning.idle import idle_parts, lacks_contrast
from grpo_ref.learning.state import Update
from grpo_ref.learning.task import Task
from grpo_ref.recipes import RECIPES, Recipe, slot
from grpo_ref.tasks import TASKS
from grpo_ref.training import iter_train

PANELS = {
    "reward": "reward",
    "entropy": "entropy (nats per token)",
    "kl": "KL to the reference (nats)",
    "clip": "clipped tokens (share)",
    "grad_norm": "gradient norm",
    "dead_groups": "groups without contrast (share)",
}
"""What is drawn, by the name of the metric; "clip" is clip_low plus clip_high."""
CLIP = ("clip_low", "clip_high")
PERCENTILES = (10, 90)
"""Of the seeds: from where to where the band around a curve goes."""

Row = dict[str, list[float] | None]
"""Of one update, for each of `PANELS`: mean and percentiles over the seeds; None if one is not finite."""


class Training(NamedTuple):
    """What `train` takes."""

    task: Task
    recipe: Recipe
    config: TrainConfig


def choices() -> dict[str, Any]:
    """What can be chosen: each task and recipe with the settings that it brings along, and what is drawn."""
    tasks = {name: dict(build().settings) for name, build in TASKS.items()}
    recipes = {
        name: {"kl_coef": recipe.kl_coef, **{clip: _clip(recipe, clip) for clip in CLIP}}
        for name, recipe in RECIPES.items()
    }
    return {"tasks": tasks, "recipes": recipes, "panels": PANELS}


def _clip(recipe: Recipe, name: str) -> float | None:
    """How far the recipe's ratio may go to one side; None where it has no clip range."""
    part = recipe.surrogate
    known = inspect.signature(part.kernel).parameters
    width: float | None = part.settings.get(name, known[name].default) if name in known else None
    return width


def training(settings: Mapping[str, Any]) -> Training:
    """The training that settings describe.

    Args:
      settings: "task" and "recipe", names; "kl_coef", "clip_low" and "clip_high", numbers, the last two None
        for a recipe without a clip range; and fields of `TrainConfig`.

    Raises:
      ValueError: if a setting is out of range.
    """
    others = dict(settings)
    task, recipe = TASKS[others.pop("task")](), RECIPES[others.pop("recipe")]
    clip = {name: width for name in CLIP if (width := others.pop(name)) is not None}
    surrogate = slot(recipe.surrogate.kernel, **(recipe.surrogate.settings | clip))
    changed = replace(recipe, kl_coef=others.pop("kl_coef"), surrogate=surrogate)
    return Training(task, changed, config_for(task, **others))


def _notes(chosen: Training) -> Iterator[str]:
    if lacks_contrast(*chosen):
        yield "Every advantage is 0: a group of one has no contrast."
    if parts := idle_parts(chosen.recipe, chosen.config):
        alike = " and ".join(parts)
        yield f"With one epoch every ratio is 1, so this recipe's {alike} cannot be told from GRPO's."


class Runs:
    """The runs of a page by name, each as far as it was asked for."""

    def __init__(self) -> None:
        self.updates: dict[str, Iterator[Update]] = {}

    def begin(self, name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Begin a run, in place of the one that had the name.

        Args:
          name: of the run.
          settings: as in `training`.

        Returns:
          "notes", a sentence on each part that does nothing under these settings; or "error", a sentence.
        """
        try:
            chosen = training(settings)
        except ValueError as error:
            return {"error": str(error)}
        self.updates[name] = iter_train(*chosen)
        return {"notes": list(_notes(chosen))}

    def advance(self, name: str, seconds: float) -> list[Row]:
        """The next updates of a run, at least one for as long as there are any.

        Args:
          name: of the run.
          seconds: after which no further update is begun.
        """
        due = time.monotonic() + seconds
        told = []
        for update in self.updates[name]:
            told.append(_told(update.metrics))
            if time.monotonic() >= due:
                break
        return told


def _told(metrics: Metrics) -> Row:
    drawn = metrics | {"clip": metrics["clip_low"] + metrics["clip_high"]}
    return {name: _summary(drawn[name]) for name in PANELS}


def _summary(values: Floats) -> list[float] | None:
    if not np.isfinite(values).all():
        return None
    return [float(values.mean()), *np.percentile(values, PERCENTILES).tolist()]
