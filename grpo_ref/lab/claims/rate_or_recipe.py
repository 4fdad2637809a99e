"""Claim: a learning rate that is wrong by a factor of 3 costs more than another recipe at its best rate."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grpo_ref.filters import all_groups
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
from grpo_ref.lab.framework.network import SUMS, network_curves, sums
from grpo_ref.lab.framework.training import summarized
from grpo_ref.recipes import CISPO, DAPO, DR_GRPO, GRPO, GSPO, REINFORCE_PP, RLOO, Recipe, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import clipped

UPDATES, PROMPTS, GROUP, EPOCHS, PARTS = 24, 8, 8, 2, 2
"""Batches, prompts of each, completions per prompt, and passes over a batch that is cut in two."""
RATES = (0.001, 0.002, 0.004, 0.008)
WRONG = 3.0
"""The factor by which a learning rate is wrong."""
MATTERS = 0.02
"""The largest difference in right answers that does not matter: 2 percentage points."""
GROUPWISE = "GRPO"
RECIPES: Mapping[str, Recipe] = {
    GROUPWISE: replace(GRPO, kl_coef=0.0),
    "Dr. GRPO": DR_GRPO,
    # Without the filter, which costs completions, and without the penalty on length, since answers are short.
    "DAPO": replace(DAPO, keep=slot(all_groups), reward=slot(task_reward)),
    # The paper's range is for ratios of thousands of tokens, whose mean hardly moves.
    "GSPO": replace(GSPO, surrogate=slot(clipped, clip_low=0.2, clip_high=0.2)),
    "CISPO": CISPO,
    "RLOO": RLOO,
    "REINFORCE++": REINFORCE_PP,
}
BEST_KNOWN = "DAPO"
"""The recipe whose predictions are main: apart from GRPO, it is used most."""
SMALL, LARGE = f"{GROUPWISE}, a third of its rate", f"{GROUPWISE}, three times its rate"


def at_multiple(*, recipe: Recipe, learning_rate: float, factor: float, seeds: int, seed: int) -> Measures:
    """Train a network at a multiple of a learning rate, and if the multiple is not 1 at the rate itself, too.

    Args:
      recipe: the recipe.
      learning_rate: step size that is tuned.
      factor: multiple of the tuned step size that is used.
      seeds, seed: number of runs; base seed of their random numbers and of the task.

    Returns:
      The measures of `summarized` for "correct" at the multiple; and "final correct at the rate", by which
      the step size is chosen.
    """
    sizes: dict[str, Any] = {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP}
    settings = {**sizes, "epochs": EPOCHS, "minibatches": PARTS, "seeds": seeds, "seed": seed}
    used, *tuned_too = (
        summarized(network_curves(sums(seed), recipe, ("correct",), learning_rate=rate, **settings))
        for rate in dict.fromkeys((factor * learning_rate, learning_rate))
    )
    at_rate = tuned_too[0] if tuned_too else used
    return used | {"final correct at the rate": at_rate["final correct"]}


def _arm(recipe: Recipe, factor: float = 1.0) -> Arm:
    rates = Tuning("learning_rate", RATES, by="final correct at the rate")
    return tuned(at_multiple, rates, recipe=recipe, factor=factor)


def _ends(says: str, left: str, expect: Expectation, right: str) -> Prediction:
    is_main = BEST_KNOWN in (left, right)
    return Prediction(says, "final correct", left, expect, right, MATTERS, is_main)


OTHERS = tuple(name for name in RECIPES if name != GROUPWISE)

EXPERIMENT = Experiment(
    name="rate_or_recipe",
    title="Does the choice of algorithm matter less than a factor of 3 in the learning rate?",
    group="advantages",
    policy="network",
    claim="Once the learning rate of each is tuned, the algorithms perform alike, within 2 percentage points."
    " A learning rate that is wrong by a factor of 3 costs more than the choice of any other algorithm.",
    source="Havrilla et al. 2024, Teaching large language models to reason with reinforcement learning"
    " (arXiv:2403.04642, abstract), for like performance; Lee et al. 2026, Learning rate matters"
    " (arXiv:2602.04998, abstract), for 2 points at tuned rates, on variants of LoRA",
    family=SUMS,
    run=f"{len(RECIPES)} recipes train the transformer on {UPDATES} batches of {PROMPTS} x {GROUP}"
    f" completions, each used for {EPOCHS * PARTS} steps: {EPOCHS} passes over {PARTS} parts. All use Adam"
    " and no KL penalty. DAPO has no dynamic sampling and no penalty on length, and GSPO has a clip range of"
    " 0.2, since completions have at most 3 tokens. GRPO also runs at a third and at three times its best"
    " rate.",
    measured="The share of right answers, by the labels, as sampled at temperature 1, as a mean over the last"
    " fifth of the updates. The learning rate is chosen by it for each recipe, on other tasks than those that"
    " are compared, from rates a factor of 2 apart.",
    arms={name: _arm(recipe) for name, recipe in RECIPES.items()}
    | {SMALL: _arm(RECIPES[GROUPWISE], 1.0 / WRONG), LARGE: _arm(RECIPES[GROUPWISE], WRONG)},
    predictions=(
        *(_ends(f"{name} ends where GRPO ends", name, "same", GROUPWISE) for name in OTHERS),
        *(
            _ends(f"GRPO at a third of its rate ends lower than {name}", SMALL, "less", name)
            for name in OTHERS
        ),
        *(
            _ends(f"GRPO at three times its rate ends lower than {name}", LARGE, "less", name)
            for name in OTHERS
        ),
        _ends("GRPO at a third of its rate ends lower than GRPO", SMALL, "less", GROUPWISE),
        _ends("GRPO at three times its rate ends lower than GRPO", LARGE, "less", GROUPWISE),
    ),
    panels=(
        Grid("right answers at the end (share)", arms=tuple(RECIPES)),
        Curves("correct", "right answers (share)", arms=(*RECIPES, SMALL, LARGE)),
    ),
)
