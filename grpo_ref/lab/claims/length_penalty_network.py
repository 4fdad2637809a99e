"""Claim: what a length penalty saves, a network saves on prompts, too, that its training never draws."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from grpo_ref.advantages import group_centered
from grpo_ref.arrays import Array, Floats
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    tuned,
)
from grpo_ref.lab.framework.network import RATES, TRANSFORMER, imitator
from grpo_ref.lab.framework.tasks.required_thoughts import Thinkers, expected, pairs, required_thoughts
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.config import config_for
from grpo_ref.recipes import GRPO, Recipe, Slot, slot
from grpo_ref.rewards import soft_overlong, task_reward
from grpo_ref.training import iter_train

HELD_OUT = 0.25
"""Share of the prompts that are held out."""
UPDATES, EVERY, PROMPTS, GROUP = 50, 5, 8, 8
"""Batches; after how many of them the policy is looked at; prompts of each, and their completions."""
PRICE = 0.1
"""Reward that a completion loses if it fills the budget, by a price per token."""
BRIEFER, MATTERS = 0.05, 0.02
"""Differences that matter: in the length, as a share of the budget, and in the share right."""


@cache
def drawn(seed: int) -> Thinkers:
    """Sample a task with some held-out prompts, and pretrain its network.

    Args:
      seed: seed of the task, the examples and the weights.
    """
    generator = np.random.default_rng([seed, 11])
    choices, budget = int(generator.integers(3, 8)), int(generator.integers(8, 17))
    kinds = choices + 1
    onward, known = 1.0 - 1.0 / (generator.uniform(0.3, 0.8) * budget), generator.uniform(0.2, 0.7)
    answers = generator.integers(1, kinds, size=kinds)
    thoughts = np.floor(generator.uniform(0.0, 0.4, size=kinds) * (budget - 1)).astype(np.int64)
    left_out = generator.permutation(kinds**2) < HELD_OUT * kinds**2
    probs = np.where(left_out, 0.0, 1.0) / (~left_out).sum()
    right, needed = np.repeat(answers, kinds), np.tile(thoughts, kinds)
    task = required_thoughts(right, needed, np.full(kinds**2, onward), probs, known=known, budget=budget)
    return Thinkers(imitator(task, pairs(kinds), seed=seed, steps=150), right, needed)


def each_token_costs(rewards: Array, lengths: Array, max_length: int, *, weight: float) -> Array:
    """(P, G) rewards minus a penalty in proportion to the length: the weight for the whole budget."""
    return rewards - weight * lengths / max_length


def learned(*, recipe: Recipe, learning_rate: float, seeds: int, seed: int) -> Measures:
    """Train on a drawn task; what the policy does with each prompt is known exactly."""
    one = drawn(seed)
    task, policy = one.start
    unseen = task.prompt_probs == 0.0

    def both(weights: Floats) -> Floats:
        found = expected(one, weights)
        return np.concatenate([found[..., ~unseen].mean(-1), found[..., unseen].mean(-1)], axis=-1)

    sizes: dict[str, Any] = {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP}
    settings = config_for(task, TRANSFORMER, **sizes, learning_rate=learning_rate, seeds=seeds, seed=seed)
    states = (state for _, state in iter_train(task, recipe, settings, metrics=(), policy=policy))
    found = [both(state.params) for state in states if state.update % EVERY == 0]
    names = ("right", "length", "right, held out", "length, held out")
    curves = dict(zip(names, np.stack(found, axis=-1).swapaxes(0, 1), strict=True))
    return summarized(curves | {"longer, held out": curves["length, held out"] - curves["length"]})


def _arm(reward: Slot, **changed: Any) -> Arm:
    recipe = replace(GRPO, kl_coef=0.0, reward=reward, **changed)
    return tuned(learned, RATES._replace(values=(0.003, 0.01, 0.03), by="final right"), recipe=recipe)


NONE, OVERLONG, DOUBLE = "no penalty", "soft overlong", "soft overlong, doubled"
SLIGHT = "every token, slight"
LOOKS = tuple(range(EVERY, UPDATES + 1, EVERY))
LENGTH, RIGHT = "final length, held out", "final right, held out"

EXPERIMENT = Experiment(
    name="length_penalty_network",
    title="Does a length penalty cost right answers, with a network?",
    policy="network",
    beside="length_penalty",
    group="rewards",
    claim="A penalty on the length makes completions shorter without making fewer of them right, on prompts,"
    " too, that are never trained, where a pretrained network answers all prompts with the same weights.",
    source="Yu et al. 2025, DAPO, eq. 13 (arXiv:2503.14476), for the soft punishment; Arora and Zanette 2025,"
    " Training language models to reason efficiently (arXiv:2502.04463, abstract), for a price of length",
    family="Prompts are pairs of 4 to 8 signs: the first asks for one of 3 to 7 answers, the second says how"
    " long one has to think before it, up to 40 % of a budget of 8 to 16 tokens. A quarter of the pairs is"
    " held out. More thinking does no harm, but what the budget cuts off has no answer. A small"
    " transformer reads the pair and the thoughts so far. It first imitates 4096 completions for the other"
    " pairs. Their answers are right in 20 to 70 %, if they are given late enough, and in them thinking goes"
    " on with a constant chance, for 30 to 80 % of the budget in the mean, if it were endless.",
    run=f"{UPDATES} batches of {PROMPTS} groups of {GROUP} are learned with Adam and without a KL penalty."
    " The reward is 1 for a right answer and 0 for a wrong one. DAPO's penalty (“soft overlong”) grows over"
    " the last fifth of the budget from 0 to 0.5. That is half of the difference between right and wrong, as"
    " in the paper, whose rewards are +1 and -1. “Doubled”, it grows to 1, which is the paper's number"
    f" without its rewards. The price of every token (“slight”) adds up to {PRICE} over the budget, without"
    " the division by the standard deviation of the group.",
    measured="The share of right completions, and their length as a share of the budget, at temperature 1,"
    f" computed from the policy after every {EVERY} updates; the last two of these count. Both are computed"
    " for the prompts of the training and for the held-out prompts. The learning rate is the one with the"
    " most right answers in the training.",
    arms={
        NONE: _arm(slot(task_reward)),
        # DAPO's weight is 1 beside rewards of +1 and -1, which is 0.5 beside rewards of 1 and 0.
        OVERLONG: _arm(slot(soft_overlong, buffer=0.2, weight=0.5)),
        DOUBLE: _arm(slot(soft_overlong, buffer=0.2, weight=1.0)),
        SLIGHT: _arm(slot(each_token_costs, weight=PRICE), advantage=slot(group_centered)),
    },
    predictions=(
        Prediction(
            "Held out: the soft punishment makes completions shorter",
            LENGTH,
            OVERLONG,
            "less",
            NONE,
            BRIEFER,
            main=True,
        ),
        Prediction(
            "Held out: as many are right with the soft punishment",
            RIGHT,
            OVERLONG,
            "same",
            NONE,
            MATTERS,
            main=True,
        ),
        Prediction(
            "Held out: twice as heavy as in the paper, the soft penalty makes completions shorter",
            LENGTH,
            DOUBLE,
            "less",
            OVERLONG,
            BRIEFER,
        ),
        Prediction(
            "Held out: twice as heavy as in the paper, it costs right answers",
            RIGHT,
            DOUBLE,
            "less",
            OVERLONG,
            MATTERS,
        ),
        Prediction(
            "Held out: a slight price of every token makes completions shorter",
            LENGTH,
            SLIGHT,
            "less",
            NONE,
            BRIEFER,
        ),
        Prediction("Held out: as many are right with it", RIGHT, SLIGHT, "same", NONE, MATTERS),
        Prediction(
            "With the soft punishment they are as long as in the training",
            "final longer, held out",
            OVERLONG,
            "same",
            0.0,
            BRIEFER,
        ),
    ),
    panels=(
        Curves("length, held out", "length, held out (share of the budget)", x=LOOKS),
        Curves("right, held out", "right answers, held out (share)", x=LOOKS),
        Grid("right answers in the training (share)"),
    ),
)
