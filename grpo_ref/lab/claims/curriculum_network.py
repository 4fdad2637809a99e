"""Claim: a prompt too hard for a network teaches nothing, unless easy ones come first or a filter helps."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.lab.framework.network import TRANSFORMER, Started, imitator
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.state import initial_state
from grpo_ref.learning.task import END, Task
from grpo_ref.recipes import GRPO, Recipe
from grpo_ref.training import iter_train

UPDATES, PROMPTS, GROUP, COPIES = 100, 8, 8, 4
"""Batches, prompts of each, completions per prompt, and prompts of each length, which the filter judges."""
HARDEST_ONLY = ((1.0, 1.0, 1.0),)
POOL = ((1.0, 0.0, 1.0),)
EASY_FIRST = ((0.5, 0.0, 0.5), (1.0, 0.0, 1.0))
FILTER = {"refilter_every": 10, "pass_low": 0.2, "pass_high": 0.8}


class Drawn(NamedTuple):
    """Task and network; each prompt's number of steps (Q,), and the right move of each step (L,)."""

    start: Started
    lengths: Integers
    moves: Integers


@cache
def drawn(seed: int) -> Drawn:
    """Prompts of 1 to L steps; the right move of a step is the same for all prompts that need this step."""
    generator = np.random.default_rng([seed, 10])
    longest, count = int(generator.integers(4, 9)), int(generator.integers(3, 6))
    moves, chance = generator.integers(count, size=longest), np.exp(generator.uniform(*np.log((1e-6, 1e-2))))
    lengths = np.repeat(np.arange(1, longest + 1), COPIES)
    hardest = generator.uniform(1.0 / longest, 0.8)
    probs = np.where(lengths == longest, hardest, (1.0 - hardest) / (longest - 1)) / COPIES
    step, noise = chance ** (1.0 / longest), 0.5 * generator.normal(size=longest)
    by_step = np.zeros((longest, count))
    by_step[np.arange(longest), moves] = np.log((count - 1) * step / (1.0 - step)) + noise - noise.mean()
    # A state for each step of each length, in rows of L. All lengths have the same logits for a step.
    states = np.arange(longest**2)
    is_last = states % longest >= states // longest
    task = Task(
        name="steps",
        vocabulary=tuple("abcde"[:count]),
        transitions=np.repeat(np.where(is_last, END, states + 1)[:, None], count, axis=1),
        prompts=tuple(f"{length}:" for length in lengths),
        starts=(lengths - 1) * longest,
        prompt_probs=probs,
        max_length=longest,
        ref_logits=np.tile(by_step, (longest, 1)),
        verify=partial(_judge, moves),
        criteria=("solved",),
        weights=np.ones(1),
    )
    numbers = np.stack(np.divmod(lengths - 1, count), axis=-1)
    return Drawn(imitator(task, numbers, seed=seed), lengths, moves)


def _judge(moves: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    solved: Floats = ((tokens == moves) | ~mask).all(-1)[..., None].astype(np.float64)
    return solved


def taught(
    *,
    recipe: Recipe,
    schedule: Sequence[tuple[float, float, float]],
    learning_rate: float,
    seeds: int,
    seed: int,
    **config: Any,
) -> Measures:
    """Train with a plan for the prompts, and follow the hardest one.

    Args:
      recipe: the algorithm.
      schedule: stages (part of the training at which it ends, lengths from and to) of the prompts that are
        drawn; lengths as parts of the longest.
      learning_rate: step size.
      seeds, seed: independent runs, and the base of their random numbers and of the task.
      config: fields of `TrainConfig`.
    """
    (task, policy), lengths, moves = drawn(seed)
    sizes: dict[str, Any] = {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP}
    sizes |= {"learning_rate": learning_rate, "seeds": seeds, "seed": seed, **config}
    settings = config_for(task, TRANSFORMER, **sizes)
    hardest = np.full((seeds, 1), len(lengths) - 1)
    path = np.tile(moves, (seeds, 1, 1, 1))
    state, rates = initial_state(task, settings, policy), []
    for until, shortest, longest in schedule:
        parts = lengths / lengths.max()
        above = parts >= shortest if shortest == 1.0 else parts > shortest
        chosen = np.where(above & (parts <= longest), task.prompt_probs, 0.0)
        state = replace(state, prompt_probs=np.tile(chosen / chosen.sum(), (seeds, 1)))
        stage = replace(settings, updates=round(until * UPDATES))
        for update in iter_train(task, recipe, stage, state, metrics=(), policy=policy):
            state = update.state
            said = policy.at(state.params, 1.0).visit(task, hardest, path, path)
            rates.append(np.exp(said.log_probs.sum((-3, -2, -1))))
    return summarized({"solved": np.stack(rates, axis=-1)})


RATES = Tuning("learning_rate", (0.001, 0.003, 0.01, 0.03), by="final solved")
MARGIN = 0.05


def _arm(schedule: tuple[tuple[float, float, float], ...], **settings: Any) -> Arm:
    return tuned(taught, RATES, recipe=replace(GRPO, kl_coef=0.0), schedule=schedule, **settings)


EXPERIMENT = Experiment(
    name="curriculum_network",
    title="Should the difficulty of the prompts match the model, with a network?",
    policy="network",
    beside="curriculum",
    group="advantages",
    claim="A prompt that a pretrained network cannot solve teaches nothing, so the prompts' difficulty must"
    " match it: easy prompts first, or only prompts with a pass rate of 20 to 80 %.",
    source="curriculum sampling: Kimi k1.5 (arXiv:2501.12599); a book chapter on GRPO (2026, not public),"
    " sec. 7.4",
    family="Prompts need 1 to 4 or 1 to 8 steps, with 3 to 5 moves in each; which move is right in"
    " a step is the same for all prompts that need this step. The hardest prompt has between an even share"
    " and 80 % of the pool. At first it is solved with a chance of one in a million to one in a hundred"
    " (log-uniform). A small transformer reads the number of steps and the moves so far, and has to find"
    " out by itself that prompts share steps; it first imitates 4096 attempts of a table in which they do.",
    run=f"There are {UPDATES} updates of {PROMPTS} x {GROUP} completions with Adam and without a KL penalty."
    " Training uses the hardest prompt only; or all prompts as they are ('pool'); or in its first half only"
    " the shorter half of the lengths ('easy first'). The filter keeps the prompts with a pass rate of 20 to"
    " 80 %, which is estimated every 10 updates from one group for each of the"
    f" {COPIES} prompts of each length.",
    measured="The probability that the hardest prompt is solved, computed from the policy: a mean over the"
    " last fifth of the updates, by which the learning rate is chosen.",
    arms={
        "hardest only": _arm(HARDEST_ONLY),
        "pool": _arm(POOL),
        "easy first": _arm(EASY_FIRST),
        "filter": _arm(POOL, **FILTER),
    },
    predictions=(
        Prediction(
            "With easy prompts first the hardest is learned better than from the pool as it is",
            "final solved",
            "easy first",
            "more",
            "pool",
            MARGIN,
            main=True,
        ),
        Prediction(
            "With the filter it is, too, update by update",
            "final solved",
            "filter",
            "more",
            "pool",
            MARGIN,
            main=True,
        ),
        Prediction(
            "On its own the hardest prompt teaches nothing",
            "final solved",
            "hardest only",
            "same",
            0.0,
            MARGIN,
        ),
    ),
    panels=(
        Curves("solved", "pass rate of the hardest prompt"),
        Grid("pass rate of the hardest prompt at the end"),
    ),
)
