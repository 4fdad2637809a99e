"""Claim: it misleads a network to count completions that the budget cut as wrong."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from grpo_ref.filters import ended_completions
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
from grpo_ref.lab.framework.network import RATES, Started, imitator, network_curves
from grpo_ref.lab.framework.reused_batches import largest_fall
from grpo_ref.lab.framework.tasks.required_thoughts import pairs, required_thoughts
from grpo_ref.lab.framework.training import summarized
from grpo_ref.recipes import DAPO, GRPO, Recipe, slot
from grpo_ref.rewards import soft_overlong

SIZES = {"updates": 40, "prompts": 8, "group_size": 8}
AMPLE_RATE = 0.01
MARGIN = 0.02


@cache
def drawn(seed: int, most: float = 0.9) -> Started:
    """Sample a task whose budget truncates some completions at first, and pretrain its network.

    Args:
      seed: seed of the task, the examples and the weights.
      most: largest number of thoughts that a prompt needs, as a share of the budget.
    """
    generator = np.random.default_rng([seed, 37])
    kinds, budget = int(generator.integers(4, 7)), int(generator.integers(8, 13))
    known, cut = generator.uniform(0.2, 0.7), generator.uniform(0.1, 0.6)
    first, second = pairs(kinds).T
    right = generator.integers(1, kinds, size=kinds)[first]
    needed = np.floor(generator.uniform(0.0, most, size=kinds) * (budget - 1)).astype(np.int64)[second]
    onward = np.full(kinds**2, cut ** (1.0 / budget))
    probs = np.full(kinds**2, 1.0 / kinds**2)
    task = required_thoughts(right, needed, onward, probs, known=known, budget=budget)
    return imitator(task, pairs(kinds), seed=seed, steps=150)


def studied(*, recipe: Recipe, learning_rate: float, seeds: int, seed: int, most: float = 0.9) -> Measures:
    """Train a network on a sampled task."""
    config: dict[str, Any] = {**SIZES, "learning_rate": learning_rate, "seeds": seeds, "seed": seed}
    curves = network_curves(drawn(seed, most), recipe, ("right", "truncated"), **config)
    return summarized(curves) | {"largest fall": largest_fall(curves["right"])}


BASE = replace(GRPO, kl_coef=0.0, aggregate=DAPO.aggregate)
FILTER = replace(BASE, admit=slot(ended_completions))
# DAPO's weight is 1 beside rewards of +1 and -1, which is 0.5 beside rewards of 1 and 0.
SOFT, DOUBLE = (replace(BASE, reward=slot(soft_overlong, buffer=0.2, weight=weight)) for weight in (0.5, 1.0))
PUNISHED, FILTERED, RAMP, TWICE = "counts as wrong", "excluded", "soft penalty", "doubled penalty"
COMPARED = (PUNISHED, FILTERED, RAMP, TWICE)


def _tuned(recipe: Recipe) -> Arm:
    return tuned(studied, RATES._replace(values=(0.003, 0.01, 0.03), by="mean right"), recipe=recipe)


def _ample(recipe: Recipe) -> Arm:
    return arm(studied, recipe=recipe, learning_rate=AMPLE_RATE, most=0.5)


def _right(says: str, left: str, expect: Expectation, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "mean right", left, expect, right, MARGIN, main)


EXPERIMENT = Experiment(
    name="overlong_network",
    title="Should truncated completions be excluded from the loss, with a network?",
    policy="network",
    beside="overlong",
    group="aggregation",
    claim="Completions that the budget cuts mislead if they count as wrong, since their reasoning may be"
    " sound: leaving them out makes training better and steadier; so does a penalty that grows slowly. A"
    " pretrained network answers all prompts with the same weights.",
    source="Yu et al. 2025, DAPO, sec. 3.4 (arXiv:2503.14476)",
    family="Prompts are pairs of 4 to 6 signs: the first asks for one of 3 to 5 answers, the second says how"
    " many thoughts are needed before it, up to 90 % of a budget of 8 to 12 tokens. More thoughts do no harm,"
    " but a completion that the budget cuts has no answer; at first 10 to 60 % are cut. A small transformer"
    " reads the pair and the thoughts so far. It first imitates 4096 completions. Their answers are right in"
    " 20 to 70 %, if they come late enough, and their number of thoughts is geometric.",
    run=f"There are {SIZES['updates']} updates of {SIZES['prompts']} x {SIZES['group_size']} completions with"
    " Adam: GRPO with the token mean and without a KL penalty. A right answer earns 1 and a wrong one 0."
    " Truncated completions count as wrong, or are excluded from the loss (overlong filtering), or count as"
    " wrong and are penalized in addition. The penalty is DAPO's: it grows over the last fifth of the budget"
    " to 0.5 (“soft penalty”), which is half of the difference between right and wrong, as in the paper,"
    " whose rewards are +1 and -1; or to 1 (“doubled penalty”), which is the paper's number without its"
    " rewards. In the “ample” tasks an answer needs at most half of the budget, and the learning rate is"
    f" {AMPLE_RATE}.",
    measured="The share of right answers, sampled at temperature 1: its mean over the updates, by which the"
    " learning rate is chosen, and its largest fall below the best value so far (means of 5 updates). The"
    " share of truncated completions.",
    arms={
        PUNISHED: _tuned(BASE),
        FILTERED: _tuned(FILTER),
        RAMP: _tuned(SOFT),
        TWICE: _tuned(DOUBLE),
        f"{PUNISHED}, ample": _ample(BASE),
        f"{RAMP}, ample": _ample(SOFT),
    },
    predictions=(
        _right("Leaving cut completions out gives more right answers", FILTERED, "more", PUNISHED, main=True),
        _right("A soft penalty gives more right answers", RAMP, "more", PUNISHED, main=True),
        _right("Twice as heavy as in the paper, the penalty gives fewer right answers", TWICE, "less", RAMP),
        Prediction(
            "Leaving cut completions out makes training steadier: it falls less",
            "largest fall",
            FILTERED,
            "less",
            PUNISHED,
            MARGIN,
        ),
        Prediction(
            "Under a soft penalty fewer completions are cut than where they are excluded",
            "mean truncated",
            RAMP,
            "less",
            FILTERED,
            MARGIN,
        ),
        _right(
            "Where no answer needs the last fifth of the budget, a soft penalty gives more right answers",
            f"{RAMP}, ample",
            "more",
            f"{PUNISHED}, ample",
        ),
    ),
    panels=(
        Curves("right", "share of right answers", arms=COMPARED),
        Curves("truncated", "share of completions that are cut", arms=COMPARED),
        Grid("right answers (mean over updates)", arms=COMPARED),
    ),
)
