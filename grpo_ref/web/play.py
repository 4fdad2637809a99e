"""Training in a page: from the settings of the page to updates, a few at a time, for one run or several."""

import inspect
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.learning.config import TrainConfig, config_for
from grpo_ref.learning.curves import Metrics
from grpo_ref.learning.inactive_parts import idle_parts, lacks_contrast
from grpo_ref.learning.state import Update
from grpo_ref.learning.task import Task
from grpo_ref.recipes import CATALOG, RECIPES, Recipe, slot
from grpo_ref.recipes.titles import title_of
from grpo_ref.tasks import TASKS
from grpo_ref.training import iter_train

PANELS = {
    "reward": "reward",
    "entropy": "entropy (nats per token)",
    "kl": "KL to the reference (nats)",
    "clip": "clipped tokens (share)",
    "grad_norm": "gradient norm",
    "dead_groups": "groups with equal rewards (share)",
}
"""Title of each panel by the name of its metric; "clip" is clip_low plus clip_high."""
CLIP = ("clip_low", "clip_high")
PERCENTILES = (10, 90)
"""Percentiles over the seeds that bound the band around a curve."""

Row = dict[str, list[float] | None]
"""Mean and percentiles over the seeds, of one update, for each of `PANELS`; None if one value is not finite.
"""


class Training(NamedTuple):
    """The arguments of `train`."""

    task: Task
    recipe: Recipe
    config: TrainConfig


def choices() -> dict[str, Any]:
    """Return the panels, and each task and recipe with its title, a sentence and its own settings.

    A recipe that distills from a teacher is not among the choices, since the page has no teacher. Neither is
    a textbook form.
    """
    tasks = [
        {
            "name": name,
            "title": name.replace("_", " "),
            "about": str(inspect.getdoc(build)).partition("\n")[0],
            "settings": dict(build().settings),
        }
        for name, build in TASKS.items()
    ]
    recipes = [
        {
            "name": name,
            "title": title_of(name),
            "about": recipe.source.replace("`", "") + ".",
            "page": f"recipe/{name}.html",
            "kl_coef": recipe.kl_coef,
            **{clip: _clip(recipe, clip) for clip in CLIP},
        }
        for name, recipe in CATALOG.items()
        if not recipe.needs_teacher
    ]
    return {"tasks": tasks, "recipes": recipes, "panels": PANELS}


def _clip(recipe: Recipe, name: str) -> float | None:
    """Return the recipe's clip range to one side; None if it has no clip range."""
    part = recipe.surrogate
    known = inspect.signature(part.kernel).parameters
    width: float | None = part.settings.get(name, known[name].default) if name in known else None
    return width


def training(settings: Mapping[str, Any]) -> Training:
    """Return the training run that the settings describe.

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
        yield "Every advantage is 0: a group of one completion has no other reward to compare with."
    if parts := idle_parts(chosen.recipe, chosen.config):
        alike = " and ".join(parts)
        yield f"With one epoch every ratio is 1, so this recipe's {alike} has the same effect as GRPO's."


class Runs:
    """The runs of a page by name. Each has been computed as far as requested."""

    def __init__(self) -> None:
        self.updates: dict[str, Iterator[Update]] = {}

    def begin(self, name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Begin a run. It replaces the run of the same name.

        Args:
          name: name of the run.
          settings: settings, as in `training`.

        Returns:
          "notes", a sentence for each part that has no effect under these settings; or "error", a sentence.
        """
        try:
            chosen = training(settings)
        except ValueError as error:
            return {"error": str(error)}
        self.updates[name] = iter_train(*chosen)
        return {"notes": list(_notes(chosen))}

    def advance(self, name: str, seconds: float) -> list[Row]:
        """Return the next updates of a run, at least one if any are left.

        Args:
          name: name of the run.
          seconds: time after which no further update is begun.
        """
        due = time.monotonic() + seconds
        rows = []
        for update in self.updates[name]:
            rows.append(_row(update.metrics))
            if time.monotonic() >= due:
                break
        return rows


def _row(metrics: Metrics) -> Row:
    drawn = metrics | {"clip": metrics["clip_low"] + metrics["clip_high"]}
    return {name: _summary(drawn[name]) for name in PANELS}


def _summary(values: Floats) -> list[float] | None:
    if not np.isfinite(values).all():
        return None
    return [float(values.mean()), *np.percentile(values, PERCENTILES).tolist()]
