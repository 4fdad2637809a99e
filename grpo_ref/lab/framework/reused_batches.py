"""Batches that are used for several steps: a distribution of spelling tasks, and the number of steps."""

from typing import Any, Literal

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import Measures
from grpo_ref.lab.framework.tasks.spelling import spelling
from grpo_ref.lab.framework.training import trained
from grpo_ref.recipes import Recipe

FAMILY = (
    "Two to six words of 6 to 16 letters, out of an alphabet of 3 to 6, are spelled, and are right if half of"
    " the letters are: at first, from less than 1 % to about 20 %. Drawn are also the share of the letters"
    " that are left to luck (0 to 0.5), the number of prompts (4 to 16) and the size of the groups (4, 8 or"
    " 16), how many passes are made over a batch (1, 2 or 4) and into how many parts each is cut (2 or 4)."
)
"""Description of how `reused` samples its tasks."""
WINDOW = 5
"""Updates over which the reward is averaged before its falls are measured."""
Use = Literal["drawn", "once", "often"]
"""Number of steps per batch: sampled with the task, 1, or 16."""


def reused(
    *,
    recipe: Recipe,
    use: Use = "drawn",
    learning_rate: float = 0.1,
    seeds: int,
    seed: int,
) -> Measures:
    """Train on a sampled task with batches that are used for several steps.

    Args:
      recipe: the recipe.
      use: number of steps per batch: sampled with the task, 1, or 16 (8 passes over 2 minibatches).
      learning_rate: step size.
      seeds, seed: number of runs; base seed of their random numbers and of the task.

    Returns:
      The measures of `summarized` for the reward, and "largest fall" of the reward below its best so far.
    """
    options, sizes = drawn_words(seed, use)
    measures = trained(
        task=spelling,
        task_options=options,
        recipe=recipe,
        record=("reward",),
        updates=40,
        learning_rate=learning_rate,
        seeds=seeds,
        seed=seed,
        **sizes,
    )
    return measures | {"largest fall": largest_fall(measures["reward"])}


def drawn_words(seed: int, use: Use) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of a sampled task, and those of its training run: sizes and steps per batch."""
    generator = np.random.default_rng([seed, 3])
    options: dict[str, Any] = {
        "words": int(generator.integers(2, 7)),
        "length": int(generator.integers(6, 17)),
        "letters": int(generator.integers(3, 7)),
        "unknown": float(generator.uniform(0.0, 0.5)),
        "seed": seed,
    }
    sizes: dict[str, Any] = {
        "prompts": int(generator.integers(4, 17)),
        "group_size": int(generator.choice([4, 8, 16])),
    }
    drawn = {"epochs": int(generator.choice([1, 2, 4])), "minibatches": int(generator.choice([2, 4]))}
    steps: dict[str, Any] = {"drawn": drawn, "once": {}, "often": {"epochs": 8, "minibatches": 2}}[use]
    return options, sizes | steps


def largest_fall(curve: Floats) -> Floats:
    """Return (S,) the largest fall of the mean over `WINDOW` updates below its best value so far.

    >>> largest_fall(np.array([[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]])).round(6).tolist()
    [0.2]
    """
    smooth = np.lib.stride_tricks.sliding_window_view(curve, WINDOW, axis=-1).mean(-1)
    fall: Floats = (np.maximum.accumulate(smooth, axis=-1) - smooth).max(-1)
    return fall
