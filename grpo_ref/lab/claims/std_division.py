"""Claim: dividing by the group's standard deviation gives very easy and very hard prompts larger weights."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.tasks.quiz import quiz
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.state import TrainState
from grpo_ref.recipes import DR_GRPO, GRPO, Recipe

GROUPS = (2, 4, 8, 16, 32)
RATES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98)
"""Pass rates at which the push of a prompt is computed."""
HARD, EASY = 0.2, 0.8
"""A question is hard at first below the one pass rate, and easy above the other."""


def pushed(*, recipe: Recipe, group_size: int, seeds: int, seed: int) -> Measures:
    """Compute a prompt's weight and push by its pass rate p, relative to a prompt with p = 1/2.

    The expected ascent of the right answer's logit is c(p) p(1-p), where p(1-p) is the slope of p and

        c(p) = E[A | right] - E[A | wrong]

    is the weight of the prompt. Both means are sums over the number of right completions of the group, which
    is binomial, so nothing is sampled. The advantage must depend on the rewards of one group only.

    Args:
      recipe: the algorithm, whose advantages are taken.
      group_size: completions per prompt.
      seeds: number of times that the same numbers are returned.
      seed: has no effect.
    """
    right = np.arange(group_size + 1)
    rewards = (np.arange(group_size) < right[:, None]).astype(np.float64)
    advantages = recipe.advantage(rewards=rewards)
    sums = {True: (advantages * rewards).sum(-1), False: (advantages * (1.0 - rewards)).sum(-1)}
    ways = np.array([math.comb(group_size, count) for count in right])

    def weight(p: float) -> float:
        chances = ways * p**right * (1.0 - p) ** (group_size - right)
        return float(chances @ (sums[True] / p - sums[False] / (1.0 - p))) / group_size

    weights = np.array([weight(p) for p in RATES]) / weight(0.5)
    return _weighed(weights, seeds)


def limit(*, seeds: int, seed: int) -> Measures:
    """Return the weight in an infinite group, where the standard deviation is √(p(1-p)): 1/√(4p(1-p))."""
    rates = np.array(RATES)
    return _weighed((4.0 * rates * (1.0 - rates)) ** -0.5, seeds)


def _weighed(weights: Floats, seeds: int) -> Measures:
    rates, every = np.array(RATES), np.ones((seeds, 1))
    pushes = weights * 4.0 * rates * (1.0 - rates)
    hard, easy = RATES.index(0.05), RATES.index(0.95)
    return {
        "weight": every * weights,
        "push": every * pushes,
        "log weight at 5 %": every[:, 0] * np.log(weights[hard]),
        "log weight at 95 %": every[:, 0] * np.log(weights[easy]),
        "log push at 5 %": every[:, 0] * np.log(pushes[hard]),
    }


def learned(*, recipe: Recipe, seeds: int, seed: int, **config: Any) -> Measures:
    """Train on a drawn quiz, and compute the pass rates of all questions and of those hard at first."""
    generator = np.random.default_rng([seed, 0, 2])
    questions, mislabelled = int(generator.integers(8, 25)), generator.uniform(0.0, 0.3)
    log_odds = np.linspace(-4.0, 4.0, questions) + generator.uniform(-0.2, 0.2, questions)
    chances = 1.0 / (1.0 + np.exp(-log_odds))
    task = quiz(generator, chances, mislabelled=mislabelled)
    sizes = {"updates": 60, "prompts": 16, "group_size": 8}
    rates = curves(task, recipe, config_for(task, seeds=seeds, seed=seed, **(sizes | config)), rates=_right)
    hard, every = rates["rates"][:, chances < HARD], rates["rates"]
    return summarized(
        {"hard": hard.mean(1), "easy": every[:, chances > EASY].mean(1), "right": every.mean(1)}
    )


def _right(state: TrainState) -> Floats:
    """(S, questions) probability of the right answer."""
    return policy_of(state.params).probs[..., 0]


DIVIDED = replace(GRPO, kl_coef=0.0)
RECIPES = {"divided": DIVIDED, "only centered": replace(DIVIDED, advantage=DR_GRPO.advantage)}
OPTIMIZERS: Mapping[str, tuple[Mapping[str, Any], Sequence[float]]] = {
    "Adam": ({"optimizer": "adam"}, (0.1, 0.3, 1.0, 3.0, 10.0)),
    "SGD": ({"optimizer": "sgd"}, (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)),
    "equal steps": ({"optimizer": "sgd", "max_grad_norm": 0.001}, (300.0, 1000.0, 3000.0, 10000.0, 30000.0)),
}
"""Settings and learning rates; steps are equally long where every gradient is cut to the same length."""
SHOWN = ("divided, SGD", "only centered, SGD", "divided, equal steps", "only centered, equal steps")
QUARTER = 0.22
"""The logarithm of 1.25."""


FOR_HARD = ", for hard questions"
"""Ending of the arms whose learning rate is chosen by the questions that are hard at first."""


def _arm(name: str, optimizer: str, by: str) -> Arm:
    settings, rates = OPTIMIZERS[optimizer]
    return tuned(learned, Tuning("learning_rate", rates, by=by), recipe=RECIPES[name], **settings)


def _more(
    says: str, measure: str, left: str, right: str | float, margin: float, main: bool = False
) -> Prediction:
    return Prediction(says, measure, left, "more", right, margin, main)


EXPERIMENT = Experiment(
    name="std_division",
    title="Does the division by the standard deviation favour easy and hard prompts?",
    group="advantages",
    claim="Dividing by the group's standard deviation gives prompts that are very easy or very hard larger"
    " weights: a question-level difficulty bias, which Dr. GRPO removes.",
    source="Liu et al. 2025, Dr. GRPO (arXiv:2503.20783)",
    family="8 to 24 questions with 2 to 8 answers that share nothing, of pass rates that are spread evenly"
    " in log-odds, from 2 to 98 % at first; up to 30 % of the labels are random. The weight of a prompt does"
    " not depend on the task, but on its pass rate and on the size of the groups.",
    run="The weight of a prompt is the difference between the expected advantages of its right and of its"
    " wrong completions, and its push is the expected gradient of the right answer's logit. Both are computed"
    f" exactly, for groups of {', '.join(map(str, GROUPS[:-1]))} and {GROUPS[-1]}. The rewards of a group are"
    " centered and divided by its standard deviation ('divided'), or only centered. Then the questions are"
    " learned in 60 updates of 16 x 8 completions without a KL penalty, with Adam, with SGD, and with SGD"
    " whose gradients are all cut to the same length, so that prompts compete for shares of a step ('equal"
    " steps').",
    measured="The logarithms of the weight and of the push of a prompt with a pass rate of 5 or 95 %,"
    " relative to a prompt with a pass rate of 1/2. The pass rates of all questions, and of those that are"
    " hard at first (below 20 %), computed from the policy: means over the updates. Two arms are compared at"
    " the learning rates that are best for the measure by which they are compared.",
    arms={
        f"weight, {name}, groups of {size}": arm(pushed, recipe=recipe, group_size=size)
        for name, recipe in RECIPES.items()
        for size in GROUPS
    }
    | {"weight, divided, infinite groups": arm(limit)}
    | {
        f"{name}, {optimizer}{ending}": _arm(name, optimizer, by)
        for optimizer in OPTIMIZERS
        for ending, by in (("", "mean right"), (FOR_HARD, "mean hard"))
        for name in RECIPES
    },
    predictions=(
        *(
            _more(
                f"In groups of {size} the division gives hard prompts more weight",
                "log weight at 5 %",
                f"weight, divided, groups of {size}",
                f"weight, only centered, groups of {size}",
                QUARTER,
                main=size == 8,
            )
            for size in GROUPS
        ),
        _more(
            "In groups of 8 the division gives easy prompts more weight",
            "log weight at 95 %",
            "weight, divided, groups of 8",
            "weight, only centered, groups of 8",
            QUARTER,
            main=True,
        ),
        _more(
            "In groups of 32 a hard prompt even pushes more than one of 50 %",
            "log push at 5 %",
            "weight, divided, groups of 32",
            0.0,
            QUARTER,
        ),
        *(
            one
            for optimizer in OPTIMIZERS
            for one in (
                _more(
                    f"Hard questions are learned faster with the division ({optimizer})",
                    "mean hard",
                    f"divided, {optimizer}{FOR_HARD}",
                    f"only centered, {optimizer}{FOR_HARD}",
                    0.02,
                ),
                _more(
                    f"All questions together are learned faster without it ({optimizer})",
                    "mean right",
                    f"only centered, {optimizer}",
                    f"divided, {optimizer}",
                    0.01,
                ),
            )
        ),
    ),
    panels=(
        Curves(
            "weight",
            "weight relative to that at p = 1/2",
            xlabel="pass rate p of the prompt",
            x=RATES,
            arms=(
                *(f"weight, divided, groups of {size}" for size in GROUPS),
                "weight, divided, infinite groups",
                "weight, only centered, groups of 8",
            ),
        ),
        Curves("hard", "pass rate of questions hard at first", arms=SHOWN),
        Grid("pass rate of all questions (mean over updates)", arms=SHOWN[:2]),
    ),
)
