"""Claim: a length penalty makes completions shorter at no cost in correctness, if the budget is ample."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from grpo_ref.advantages import group_centered
from grpo_ref.arrays import Array, Bools, Floats, Integers
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
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.task import END, Task
from grpo_ref.recipes import GRPO, Recipe, Slot, slot
from grpo_ref.rewards import soft_overlong, task_reward

THINK = 0
"""The token that goes on; every other one is an answer."""
VARIANTS = 20
"""Prompts of each kind, which need different lengths and look alike."""
SHORT, LONG = (0.0, 0.4), (0.4, 0.95)
"""Between which shares of the budget lie the lengths that prompts need."""
LINEAR, WEAK = 0.5, 0.1
"""Reward that a completion loses if it fills the budget, by the penalty on every token."""
BRIEFER, MATTERS = 0.05, 0.02
"""Differences that matter: in the length, as a share of the budget, and in the share right."""
RATES = Tuning("learning_rate", (0.01, 0.03, 0.1, 0.3, 1.0), by="final right")


def thinking(seed: int, needs: tuple[float, float]) -> Task:
    """A drawn task: think for as long as the prompt needs, which cannot be seen, then give the answer.

    Args:
      seed: of all that is drawn.
      needs: between which shares of the budget the prompts need to think.

    Returns:
      A task with the criterion "right"; a completion that the budget cuts off has no answer.
    """
    generator = np.random.default_rng([seed, 7])
    kinds, budget, choices = (int(generator.integers(*ends)) for ends in ((2, 9), (10, 31), (2, 9)))
    right = generator.integers(1, choices + 1, size=kinds)
    needed = np.floor(generator.uniform(*needs, kinds * VARIANTS) * (budget - 1))
    going_on, known = 1.0 - 1.0 / (generator.uniform(0.3, 0.8) * budget), generator.uniform(0.1, 0.7)
    states = np.arange(kinds * budget)
    transitions = np.full((len(states), choices + 1), END)
    transitions[:, THINK] = np.where(states % budget == budget - 1, states, states + 1)
    odds = generator.normal(size=(kinds, choices + 1))
    rows = np.arange(kinds)
    others = np.exp(odds[:, 1:]).sum(-1) - np.exp(odds[rows, right])
    odds[rows, right] = np.log(known / (1.0 - known) * others)
    odds[:, THINK] = np.log(going_on / (1.0 - going_on) * np.exp(odds[:, 1:]).sum(-1))
    prompts = kinds * VARIANTS
    return Task(
        name="thinking",
        vocabulary=("-", *"abcdefgh"[:choices]),
        transitions=transitions,
        prompts=tuple(f"{kind}.{variant}:" for kind in range(kinds) for variant in range(VARIANTS)),
        starts=np.repeat(np.arange(kinds) * budget, VARIANTS),
        prompt_probs=np.full(prompts, 1.0 / prompts),
        max_length=budget,
        ref_logits=np.repeat(odds, budget, axis=0),
        verify=partial(_judge, np.repeat(right, VARIANTS), needed),
        criteria=("right",),
        weights=np.ones(1),
    )


def _judge(right: Integers, needed: Floats, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Right is the right answer after as many thoughts as were needed."""
    answered = ((tokens == right[prompts][..., None, None]) & mask).any(-1)
    thoughts = mask.sum(-1) - 1
    judged: Floats = (answered & (thoughts >= needed[prompts][..., None]))[..., None].astype(np.float64)
    return judged


def each_token_costs(rewards: Array, lengths: Array, max_length: int, *, weight: float) -> Array:
    """(P, G) rewards minus a penalty in proportion to the length: the weight for the whole budget."""
    return rewards - weight * lengths / max_length


def learned(
    *, recipe: Recipe, needs: tuple[float, float], learning_rate: float, seeds: int, seed: int
) -> Measures:
    """Train on a drawn task of `thinking`; "length" is a share of the budget."""
    task = thinking(seed, needs)
    sizes: dict[str, Any] = {"updates": 100, "prompts": 16, "group_size": 8}
    config = config_for(task, **sizes, learning_rate=learning_rate, seeds=seeds, seed=seed)
    found = curves(task, recipe, config, ("right", "length", "truncated"))
    return summarized(found | {"length": found["length"] / task.max_length})


def _rewarded(reward: Slot, **changed: Any) -> Recipe:
    return replace(GRPO, kl_coef=0.0, reward=reward, **changed)


NONE, OVERLONG, EACH, SLIGHT = "no penalty", "soft overlong", "every token", "every token, slight"
UNSCALED, DOUBLE = "slight, std left out", "soft overlong, doubled"
RECIPES = {
    NONE: _rewarded(slot(task_reward)),
    # DAPO's weight is 1 beside rewards of +1 and -1, which is 0.5 beside rewards of 1 and 0.
    OVERLONG: _rewarded(slot(soft_overlong, buffer=0.2, weight=0.5)),
    DOUBLE: _rewarded(slot(soft_overlong, buffer=0.2, weight=1.0)),
    EACH: _rewarded(slot(each_token_costs, weight=LINEAR)),
    SLIGHT: _rewarded(slot(each_token_costs, weight=WEAK)),
    UNSCALED: _rewarded(slot(each_token_costs, weight=WEAK), advantage=slot(group_centered)),
}


def _tuned(label: str, needs: tuple[float, float]) -> Arm:
    return tuned(learned, RATES, recipe=RECIPES[label], needs=needs)


def _long(label: str) -> str:
    return f"{label}; long"


def _briefer(says: str, label: str, than: str = NONE, *, main: bool = False) -> Prediction:
    return Prediction(says, "final length", label, "less", than, BRIEFER, main)


def _as_right(says: str, label: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final right", label, "same", NONE, MATTERS, main)


def _costs(says: str, label: str) -> Prediction:
    return Prediction(says, "final right", _long(label), "less", _long(NONE), MATTERS)


EXPERIMENT = Experiment(
    name="length_penalty",
    title="Does a length penalty cost right answers?",
    group="rewards",
    claim="A penalty on the length makes completions shorter without making fewer of them right, as long as"
    " the budget is ample: a soft punishment of the last fifth of the budget (DAPO), or a small price of"
    " every token. Where right answers need length, it costs right answers.",
    source="Yu et al. 2025, DAPO, eq. 13 (arXiv:2503.14476), for the soft punishment; Arora and Zanette 2025,"
    " Training language models to reason efficiently (arXiv:2502.04463, abstract), for a price of length;"
    " Nohara et al. 2026 (arXiv:2602.09591, abstract), who report what it costs",
    family="2 to 8 kinds of prompts with 2 to 8 answers, and a budget of 10 to 30 tokens. Before it"
    " answers, a policy thinks; how long a prompt needs cannot be seen and is drawn for each: up to 40 %"
    " of the budget, or 40 to 95 % in the tasks that need length. More thinking does no harm, but what the"
    " budget cuts off has no answer. At first 10 to 70 % of the answers are right, were they given late"
    " enough, and the policy thinks on with a constant chance, for 30 to 80 % of the budget in the mean,"
    " if it were endless.",
    run="100 batches of 16 groups of 8 are learned with Adam and without a KL penalty. The reward is 1 for a"
    " right answer and 0 for a wrong one. DAPO's penalty (“soft overlong”) grows over the last fifth of the"
    " budget from 0 to 0.5. That is half of the difference between right and wrong, as in the paper, whose"
    " rewards are +1 and -1. “Doubled”, it grows to 1, which is the paper's number without its rewards. The"
    f" price of every token adds up to {LINEAR} over the budget, or to {WEAK} (“slight”). The slight price is"
    " also run without the division by the standard deviation of the group. “Long” means"
    " tasks in which right answers need length.",
    measured="The length as a share of the budget, the share of right answers and that of truncated"
    " completions, sampled at temperature 1, as means over the last fifth of the training. The learning rate"
    " is the one with the most right answers.",
    arms={label: _tuned(label, SHORT) for label in RECIPES}
    | {_long(label): _tuned(label, LONG) for label in RECIPES},
    predictions=(
        _briefer("The soft punishment makes completions shorter", OVERLONG, main=True),
        _as_right("As many are right with the soft punishment", OVERLONG, main=True),
        _briefer("A price of every token makes them shorter than the soft punishment", EACH, OVERLONG),
        _as_right("As many are right with a price of every token", EACH),
        _briefer("A slight price of every token makes them shorter", SLIGHT),
        _as_right("As many are right with a slight price", SLIGHT),
        Prediction(
            "Fewer are cut with the soft punishment", "final truncated", OVERLONG, "less", NONE, MATTERS
        ),
        _costs("Where length is needed, the soft punishment costs right answers", OVERLONG),
        Prediction(
            "Twice as heavy as in the paper, the soft penalty makes completions shorter",
            "final length",
            DOUBLE,
            "less",
            OVERLONG,
            BRIEFER,
        ),
        Prediction(
            "Where length is needed, twice as heavy a penalty costs more right answers",
            "final right",
            _long(DOUBLE),
            "less",
            _long(OVERLONG),
            MATTERS,
        ),
        _costs("Where length is needed, a price of every token costs right answers", EACH),
        Prediction(
            "Where length is needed, a slight price costs less without the division",
            "final right",
            _long(UNSCALED),
            "more",
            _long(SLIGHT),
            MATTERS,
        ),
    ),
    panels=(
        Curves("length", "length (share of the budget)", arms=tuple(RECIPES)),
        Grid("right answers at the end (share)", arms=tuple(RECIPES)),
    ),
)
