"""Claim: a token mean over the whole batch neglects prompts with short answers; one per group does not."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from grpo_ref.aggregation import group_token_mean, sequence_mean_token_mean, token_mean
from grpo_ref.arrays import Array, Floats
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Expectation,
    Experiment,
    Grid,
    Measures,
    Prediction,
    arm,
    tuned,
)
from grpo_ref.lab.framework.network import RATES, TRANSFORMER, imitator
from grpo_ref.lab.framework.tasks.required_thoughts import Thinkers, expected, pairs, required_thoughts
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.config import config_for
from grpo_ref.recipes import GRPO, Recipe, slot
from grpo_ref.training import iter_train

UPDATES, EVERY, PROMPTS, GROUP = 24, 4, 16, 8
"""Batches; number of updates between two looks at the policy; prompts of a batch; completions of a prompt."""
MARGIN = 0.02
"""Difference in the share of right answers that matters."""


@cache
def drawn(seed: int, alike: bool = False) -> Thinkers:
    """Sample a task in which about half of the prompts need many thoughts, and pretrain its network.

    Args:
      seed: seed of the task, the examples and the weights.
      alike: if true, all prompts need 30 % of the budget.
    """
    generator = np.random.default_rng([seed, 31])
    kinds, budget = int(generator.integers(4, 7)), int(generator.integers(8, 13))
    known, long_share = generator.uniform(0.2, 0.7), generator.uniform(0.3, 0.6)
    first, second = pairs(kinds).T
    is_long = second % 2 == 1
    # The same first sign asks for other answers of short and of long prompts, so neither teaches the other.
    if_long, if_short = generator.integers(1, kinds, size=(2, kinds))
    right = np.where(is_long, if_long[first], if_short[first])
    long_part = np.where(is_long, long_share, 0.0)
    if alike:
        long_part = np.full(kinds**2, 0.3)
    needed = np.rint(long_part * budget).astype(np.int64)
    usual = long_part * budget + np.where(long_part > 0.0, 2.0, 1.0)
    probs = np.full(kinds**2, 1.0 / kinds**2)
    task = required_thoughts(right, needed, usual / (1.0 + usual), probs, known=known, budget=budget)
    return Thinkers(imitator(task, pairs(kinds), seed=seed, steps=150), right, needed)


def train_and_measure(
    *, recipe: Recipe, learning_rate: float, seeds: int, seed: int, alike: bool = False
) -> Measures:
    """Train on a sampled task and return curves of the exact share of right answers.

    "right" is over all prompts, "right, short" and "right, long" are over the prompts of one kind.
    """
    one = drawn(seed, alike)
    task, policy = one.start
    is_long = pairs(math.isqrt(len(one.right)))[:, 1] % 2 == 1

    def shares(weights: Floats) -> Floats:
        right = expected(one, weights)[:, 0]
        return np.stack([right.mean(-1), right[:, ~is_long].mean(-1), right[:, is_long].mean(-1)], axis=-1)

    sizes: dict[str, Any] = {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP}
    config = config_for(task, TRANSFORMER, **sizes, learning_rate=learning_rate, seeds=seeds, seed=seed)
    states = (state for _, state in iter_train(task, recipe, config, metrics=(), policy=policy))
    curves = np.stack([shares(state.params) for state in states if state.update % EVERY == 0], axis=-1)
    return summarized(dict(zip(("right", "right, short", "right, long"), curves.swapaxes(0, 1), strict=True)))


def _averaged(aggregate: Callable[[Array], Array]) -> Recipe:
    return replace(GRPO, kl_coef=0.0, aggregate=slot(aggregate))


GROUP_MEAN, BATCH_MEAN = _averaged(group_token_mean), _averaged(token_mean)
GROUPS, BATCHES, COMPLETIONS = "average of each group", "average of the batch", "mean of each completion"
CONTROL_RATE = 0.01
LOOKS = tuple(range(EVERY, UPDATES + 1, EVERY))


def _tuned(recipe: Recipe, by: str = "mean right") -> Arm:
    return tuned(train_and_measure, RATES._replace(values=(0.003, 0.01, 0.03), by=by), recipe=recipe)


def _differs(
    says: str, measure: str, left: str, expect: Expectation, right: str, *, main: bool = False
) -> Prediction:
    return Prediction(says, measure, left, expect, right, MARGIN, main)


EXPERIMENT = Experiment(
    name="group_average",
    title="Should DAPO's loss be averaged per group or over the batch?",
    policy="network",
    group="aggregation",
    claim="DAPO's paper divides the loss of each group by the tokens of the group, but trainers divide it by"
    " the tokens of the batch. Then a prompt whose answers are twice as long counts twice as much, so prompts"
    " with short answers are learned less. The average of each group learns faster, and both end alike.",
    source="Yu et al. 2025, DAPO, eq. 8 and 12 (arXiv:2503.14476); TRL, pull request 5381 (2026), for the"
    " neglect of short answers, and issue 5375 for the mean of each completion; SkyRL, pull request 1719"
    " (2026), `prompt_mean`, which learned faster; Khatri et al. 2025, ScaleRL (arXiv:2510.13786, abstract),"
    " for the equal end",
    family="Prompts are pairs of 4 to 6 signs. The second sign says whether an answer needs no thoughts or 30"
    " to 60 % of a budget of 8 to 12 tokens, about half of the prompts each. Both signs say which of 3 to 5"
    " answers is right. More thoughts do no harm, but a completion that the budget truncates has no answer."
    " A small transformer first imitates 4096 completions. In these 20 to 70 % of the answers are right, if"
    " they come late enough, and the number of thoughts is geometric, with a mean of 1 for short prompts and"
    " of 2 more than needed for long prompts.",
    run=f"A network is trained: {UPDATES} batches of {PROMPTS} groups of {GROUP} with Adam, GRPO's advantages"
    " and no KL penalty. The token losses are averaged over each group and then over the groups, or over all"
    " tokens of the batch, or over each completion and then over the completions (GRPO). In the control all"
    f" prompts need 30 % of the budget, and the rate is {CONTROL_RATE}.",
    measured="The share of right answers at temperature 1, computed from the policy after every"
    f" {EVERY} updates: over all prompts, over the short prompts and over the long prompts. The mean over"
    " the training says how fast the network learns; the last fifth is its end. The rate is chosen by the"
    " mean over all prompts, or by the end where the ends are compared.",
    arms={
        GROUPS: _tuned(GROUP_MEAN),
        BATCHES: _tuned(BATCH_MEAN),
        COMPLETIONS: _tuned(_averaged(sequence_mean_token_mean)),
        f"{GROUPS}, end": _tuned(GROUP_MEAN, by="final right"),
        f"{BATCHES}, end": _tuned(BATCH_MEAN, by="final right"),
        f"{GROUPS}, equal lengths": arm(
            train_and_measure, recipe=GROUP_MEAN, learning_rate=CONTROL_RATE, alike=True
        ),
        f"{BATCHES}, equal lengths": arm(
            train_and_measure, recipe=BATCH_MEAN, learning_rate=CONTROL_RATE, alike=True
        ),
    },
    predictions=(
        _differs(
            "With the average of the batch, short answers are learned less",
            "mean right, short",
            BATCHES,
            "less",
            GROUPS,
            main=True,
        ),
        _differs(
            "With the average of each group, right answers are learned faster",
            "mean right",
            GROUPS,
            "more",
            BATCHES,
            main=True,
        ),
        _differs(
            "Both end with as many right answers",
            "final right",
            f"{GROUPS}, end",
            "same",
            f"{BATCHES}, end",
            main=True,
        ),
        _differs(
            "The mean of each completion does what the average of each group does",
            "mean right",
            COMPLETIONS,
            "same",
            GROUPS,
        ),
        _differs(
            "With the average of the batch, long answers are learned more",
            "mean right, long",
            BATCHES,
            "more",
            GROUPS,
        ),
        _differs(
            "Control: where all prompts need the same length, the choice does not matter",
            "mean right",
            f"{BATCHES}, equal lengths",
            "same",
            f"{GROUPS}, equal lengths",
        ),
    ),
    panels=(
        Curves("right, short", "right answers, short prompts (share)", x=LOOKS, arms=(GROUPS, BATCHES)),
        Curves("right, long", "right answers, long prompts (share)", x=LOOKS, arms=(GROUPS, BATCHES)),
        Grid("right answers (mean over training)", arms=(GROUPS, BATCHES, COMPLETIONS)),
    ),
)
