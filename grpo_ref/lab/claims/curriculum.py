"""Claim: a prompt that is too hard teaches nothing unless easy prompts come first or prompts are filtered."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Expectation,
    Experiment,
    Grid,
    Measures,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.lab.framework.tasks.chain import COPIES, FAMILY, drawn_chain, pass_rates
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.state import initial_state
from grpo_ref.learning.task import Task
from grpo_ref.recipes import GRPO, Recipe
from grpo_ref.training import iter_train

UPDATES = (20, 40, 80, 160)
"""Numbers of updates; each task draws one of them."""
PROMPTS, GROUP = 8, 8
PLACES = tuple(part / 20 for part in range(1, 21))
"""Parts of the training, or of the completions that it takes without a filter."""
HARDEST_ONLY = ((1.0, 1.0, 1.0),)
POOL = ((1.0, 0.0, 1.0),)
EASY_FIRST = ((0.5, 0.0, 0.5), (1.0, 0.0, 1.0))
HARD_FIRST = ((0.5, 0.5, 1.0), (1.0, 0.0, 1.0))
FILTER: Mapping[str, Any] = {"refilter_every": 10, "pass_low": 0.2, "pass_high": 0.8}


def taught(
    *,
    recipe: Recipe,
    schedule: Sequence[tuple[float, float, float]],
    shared: bool = True,
    chance: float = 0.0,
    seeds: int,
    seed: int,
    **config: Any,
) -> Measures:
    """Train on a drawn chain with a plan for its prompts, and follow the hardest one and the whole pool.

    Args:
      recipe: the algorithm.
      schedule: stages (part of the training at which it ends, lengths from and to) of the prompts that are
        drawn; lengths as parts of the longest.
      shared, chance: of the task.
      seeds, seed: independent runs, and the base of their random numbers and of the task.
      config: fields of `TrainConfig`.
    """
    task, plain = drawn_chain(seed, shared=shared, chance=chance)
    updates = int(np.random.default_rng([seed, 0, 2]).choice(UPDATES))
    sizes = {"updates": updates, "prompts": PROMPTS, "group_size": GROUP}
    settings = config_for(task, seeds=seeds, seed=seed, **(sizes | config))
    state, rates = initial_state(task, settings), [pass_rates(plain, np.stack([task.ref_logits] * seeds))]
    for until, shortest, longest in schedule:
        state = replace(state, prompt_probs=np.tile(_between(task, shortest, longest), (seeds, 1)))
        stage = replace(settings, updates=round(until * updates))
        for update in iter_train(task, recipe, stage, state, metrics=()):
            state = update.state
            rates.append(pass_rates(plain, state.params))
    every = max(settings.refilter_every, 1)
    judged = (settings.refilter_every > 0) & (np.arange(updates) % every == 0)
    cost = np.cumsum([0, *(GROUP * (PROMPTS + judged * len(task.prompts)))])
    solved = np.stack(rates, axis=-1)[:, -1]
    return summarized(
        {
            "solved": _at(solved, np.arange(updates + 1) / updates),
            "solved by completions": _at(solved, cost / (updates * PROMPTS * GROUP)),
        }
    )


def _at(curve: Floats, path: Floats) -> Floats:
    """(S, places) a curve (S, U + 1) at `PLACES` of the path, from 0 before training."""
    return np.stack([np.interp(PLACES, path, one) for one in curve])


def _between(task: Task, shortest: float, longest: float) -> Floats:
    """The pool's proportions among prompts of some lengths, parts of the longest, and none of the others."""
    lengths = (np.arange(len(task.prompts)) // COPIES + 1) * COPIES / len(task.prompts)
    above = lengths >= shortest if shortest == 1.0 else lengths > shortest
    chosen = np.where(above & (lengths <= longest), task.prompt_probs, 0.0)
    proportions: Floats = chosen / chosen.sum()
    return proportions


NO_KL = replace(GRPO, kl_coef=0.0)
RATES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
MARGIN = 0.05
HOPELESS = 1e-8
"""A chance that no training here has completions enough for."""


BY_UPDATE, BY_COMPLETION = "final solved", "final solved by completions"


def _arm(schedule: tuple[tuple[float, float, float], ...], by: str = BY_UPDATE, **settings: Any) -> Arm:
    return tuned(taught, Tuning("learning_rate", RATES, by), recipe=NO_KL, schedule=schedule, **settings)


def _of(
    says: str,
    left: str,
    expect: Expectation,
    right: str | float,
    *,
    measure: str = BY_UPDATE,
    main: bool = False,
) -> Prediction:
    return Prediction(says, measure, left, expect, right, MARGIN, main)


EXPERIMENT = Experiment(
    name="curriculum",
    title="Should the difficulty of the prompts match the model?",
    group="advantages",
    claim="A prompt that the model cannot solve teaches nothing, so the prompts' difficulty must match the"
    " model: easy prompts first, or only prompts with a pass rate of 20 to 80 %.",
    source="curriculum sampling: Kimi k1.5 (arXiv:2501.12599); a book chapter on GRPO (2026, not public),"
    " sec. 7.4",
    family=FAMILY,
    run=f"There are 20, 40, 80 or 160 updates, as sampled for the task, of {PROMPTS} x {GROUP} completions"
    " with Adam and without a KL penalty. Training uses the hardest prompt only; or all prompts as they are"
    " ('pool'); or in its first half only the shorter half of the lengths ('easy first'); or in its first"
    " half only the longer half, which is meant to do harm ('hard first'). The filter keeps the prompts with"
    " a pass rate of 20 to 80 %, which is estimated every 10 updates from one group for each of the"
    f" {COPIES} prompts of each length. This is repeated where the hardest prompt is solved at first with a"
    " chance of 1e-8 ('hopeless'), and in a control with prompts that share no steps ('own steps').",
    measured="The probability that the hardest prompt is solved, computed from the policy: a mean over the"
    " last fifth of the updates ('final solved'), or over the last fifth of the completions that training"
    " without a filter has, where the completions that the filter uses are counted ('by completions'). Each"
    " comparison is at the learning rates that are best for the number that is compared.",
    arms={
        "hardest only": _arm(HARDEST_ONLY),
        "pool": _arm(POOL),
        "easy first": _arm(EASY_FIRST),
        "hard first": _arm(HARD_FIRST),
        "filter": _arm(POOL, **FILTER),
        "pool, by completions": _arm(POOL, BY_COMPLETION),
        "filter, by completions": _arm(POOL, BY_COMPLETION, **FILTER),
        "hopeless, hardest only": _arm(HARDEST_ONLY, chance=HOPELESS),
        "hopeless, pool": _arm(POOL, chance=HOPELESS),
        "hopeless, easy first": _arm(EASY_FIRST, chance=HOPELESS),
        "hopeless, filter": _arm(POOL, chance=HOPELESS, **FILTER),
        "own steps, pool": _arm(POOL, shared=False),
        "own steps, easy first": _arm(EASY_FIRST, shared=False),
        "own steps, filter": _arm(POOL, shared=False, **FILTER),
    },
    predictions=(
        _of("With easy prompts first the hardest is learned better", "easy first", "more", "pool", main=True),
        _of("With the filter it is, too, update by update", "filter", "more", "pool", main=True),
        _of(
            "With the filter it is, too, by completions",
            "filter, by completions",
            "more",
            "pool, by completions",
            measure=BY_COMPLETION,
        ),
        _of("On its own the hardest prompt teaches nothing", "hardest only", "same", 0.0),
        _of("Hard prompts first do harm", "hard first", "less", "pool"),
        _of("Hopeless at first, it teaches nothing on its own", "hopeless, hardest only", "same", 0.0),
        _of(
            "Hopeless at first, it is learned better with easy prompts first",
            "hopeless, easy first",
            "more",
            "hopeless, pool",
        ),
        _of(
            "Hopeless at first, it is learned better with the filter",
            "hopeless, filter",
            "more",
            "hopeless, pool",
        ),
        _of(
            "Control: where prompts share no steps, easy ones first do not matter",
            "own steps, easy first",
            "same",
            "own steps, pool",
        ),
        _of(
            "Control: where prompts share no steps, the filter does not matter",
            "own steps, filter",
            "same",
            "own steps, pool",
        ),
    ),
    panels=(
        Curves(
            "solved by completions",
            "pass rate of the hardest prompt",
            xlabel="completions (share of those without a filter)",
            x=PLACES,
            arms=("hardest only", "pool", "easy first", "hard first", "filter"),
        ),
        Grid(
            "pass rate of the hardest prompt at the end",
            arms=("pool", "easy first", "hard first", "filter"),
        ),
        Curves(
            "solved by completions",
            "pass rate where it is 1e-8 at first",
            xlabel="completions (share of those without a filter)",
            x=PLACES,
            arms=("hopeless, hardest only", "hopeless, pool", "hopeless, easy first", "hopeless, filter"),
        ),
    ),
)
