"""Claim: a prompt that is too hard teaches nothing unless easy prompts come first or prompts are filtered."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Measures,
    Points,
    Prediction,
    arm,
)
from grpo_ref.experiments.framework.tasks.chain import chain, pass_rates
from grpo_ref.learning.config import config_for
from grpo_ref.learning.state import initial_state
from grpo_ref.learning.tasks.task import Task
from grpo_ref.recipes import GRPO, Recipe
from grpo_ref.training import train

LONGEST, UPDATES = 10, 75
HARDEST_ONLY = ((UPDATES, LONGEST, LONGEST),)
POOL = ((UPDATES, 1, LONGEST),)
EASY_FIRST = ((UPDATES // 2, 1, LONGEST // 2), (UPDATES, 1, LONGEST))
FILTER = {"refilter_every": 3, "pass_low": 0.2, "pass_high": 0.8}


def taught(
    *,
    recipe: Recipe,
    schedule: Sequence[tuple[int, int, int]],
    hardest_share: float,
    shared: bool,
    seeds: int,
    seed: int,
    **config: Any,
) -> Measures:
    """Train on a chain with a plan for its prompts, and follow the hardest one.

    Args:
      recipe: the algorithm.
      schedule: stages (update at which it ends, fewest steps, most steps) of the prompts that are drawn.
      hardest_share: share of the hardest prompt in the pool.
      shared: whether prompts share their last steps.
      seeds, seed: independent runs, and the base of their random numbers.
      config: fields of `TrainConfig`.
    """
    task = chain(longest=LONGEST, hardest_share=hardest_share, shared=shared)
    settings = config_for(task, seeds=seeds, seed=seed, **config)
    state, rates = initial_state(task, settings), []
    for until, fewest, most in schedule:
        state = replace(state, prompt_probs=np.tile(_between(task, fewest, most), (seeds, 1)))
        for update in train(task, recipe, replace(settings, updates=until), state, metrics=()):
            state = update.state
            rates.append(pass_rates(task, state.params)[:, -1])
    curve = np.stack(rates, axis=-1)
    return {"pass rate": curve, "final pass rate": curve[:, -1]}


def _between(task: Task, fewest: int, most: int) -> Floats:
    """The pool's proportions among prompts of so many steps, and none of the others."""
    lengths = np.arange(1, len(task.prompts) + 1)
    chosen = np.where((lengths >= fewest) & (lengths <= most), task.prompt_probs, 0.0)
    proportions: Floats = chosen / chosen.sum()
    return proportions


def _arm(schedule: tuple[tuple[int, int, int], ...], **settings: Any) -> Arm:
    defaults = {"recipe": replace(GRPO, kl_coef=0.0), "hardest_share": 0.8, "shared": True}
    return arm(taught, schedule=schedule, **(defaults | settings))


EXPERIMENT = Experiment(
    name="curriculum",
    group="advantages",
    claim="A prompt that the model cannot solve teaches nothing, so the prompts' difficulty must match the"
    " model: easy prompts first, or only prompts with a pass rate of 20 to 80 %.",
    source="a book chapter on GRPO (2026, not public), sec. 7.4; curriculum sampling: Kimi k1.5"
    " (arXiv:2501.12599)",
    run=f"Prompts need 1 to {LONGEST} steps with 4 moves each. The hardest one is solved at first once in a"
    f" million attempts, and makes up 80 % of the pool. There are {UPDATES} updates of 8 x 8 completions"
    " with Adam: on the hardest prompt only; on the pool as it is; with only the prompts of at most 5 steps"
    " in the first half; and with the pool filtered every 3 updates. This is repeated with an even pool, and"
    " with prompts that share no steps.",
    measured="The probability that the hardest prompt is solved after the last update, computed from the"
    " policy.",
    arms={
        "hardest only": _arm(HARDEST_ONLY),
        "pool": _arm(POOL),
        "easy first": _arm(EASY_FIRST),
        "filter": _arm(POOL, **FILTER),
        "even pool": _arm(POOL, hardest_share=1 / LONGEST),
        "even pool, easy first": _arm(EASY_FIRST, hardest_share=1 / LONGEST),
        "own steps, hardest only": _arm(HARDEST_ONLY, shared=False),
        "own steps, easy first": _arm(EASY_FIRST, shared=False),
        "own steps, filter": _arm(POOL, shared=False, **FILTER),
    },
    predictions=(
        Prediction(
            "On its own the hardest prompt teaches nothing",
            "final pass rate",
            "hardest only",
            "same",
            0.0,
            0.02,
        ),
        Prediction(
            "With easy prompts first more is learned than from the pool as it is",
            "final pass rate",
            "easy first",
            "more",
            "pool",
            0.05,
        ),
        Prediction(
            "With the filter more is learned than from the pool as it is",
            "final pass rate",
            "filter",
            "more",
            "pool",
            0.05,
        ),
        Prediction(
            "Easy prompts first help as well if no length is rarer than another",
            "final pass rate",
            "even pool, easy first",
            "more",
            "even pool",
            0.05,
        ),
        Prediction(
            "Where prompts share no steps, easy ones first cannot help",
            "final pass rate",
            "own steps, easy first",
            "same",
            "own steps, hardest only",
            0.02,
        ),
        Prediction(
            "Where prompts share no steps, the filter cannot help",
            "final pass rate",
            "own steps, filter",
            "same",
            "own steps, hardest only",
            0.02,
        ),
    ),
    panels=(
        Curves(
            "pass rate",
            "pass rate of the hardest prompt",
            arms=("hardest only", "pool", "easy first", "filter", "even pool"),
        ),
        Points(
            "final pass rate",
            "pass rate of the hardest prompt at the end",
            x={
                "as it is": {"even pool": 1 / LONGEST, "pool": 0.8},
                "easy first": {"even pool, easy first": 1 / LONGEST, "easy first": 0.8},
            },
            xlabel="share of the hardest prompt in the pool",
        ),
    ),
    remark="An even mix is a curriculum by itself: its easy prompts are learned first, and no prompt is"
    " withheld. The filter admits few prompts at a time; with SGD it helps (see `dead_groups`).",
)
