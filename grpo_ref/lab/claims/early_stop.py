"""Claim: off-policy training is more stable without the minibatches whose importance ratio is extreme."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from grpo_ref.corrections import early_stop
from grpo_ref.lab.framework.experiment import (
    Arm,
    Experiment,
    Grid,
    Measures,
    Points,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.reused_batches import WINDOW, largest_fall
from grpo_ref.lab.framework.tasks.noisy_bandit import noisy_bandit
from grpo_ref.lab.framework.training import trained
from grpo_ref.recipes import GRPO, Recipe, slot
from grpo_ref.surrogates import clipped

MAX_RATIO = 5.0
"""RLinf's early_stop_imp_ratio."""


def _stopped(recipe: Recipe) -> Recipe:
    return replace(recipe, corrections=(slot(early_stop, max_ratio=MAX_RATIO),))


CLIP, CLIP_STOP, FREE, FREE_STOP = "clip", "clip, early stop", "no clip", "no clip, early stop"
CLIPPED = replace(GRPO, kl_coef=0.0)
UNCLIPPED = replace(CLIPPED, surrogate=slot(clipped, clip_low=0.9999, clip_high=1e9))
RECIPES = {CLIP: CLIPPED, CLIP_STOP: _stopped(CLIPPED), FREE: UNCLIPPED, FREE_STOP: _stopped(UNCLIPPED)}
RATES = (0.03, 0.1, 0.3, 1.0)
FIXED = (0.1, 0.3, 1.0)
"""Learning rates at which all recipes are compared."""


def learned(
    *,
    recipe: Recipe,
    use: Literal["drawn", "once"] = "drawn",
    learning_rate: float = 0.1,
    seeds: int,
    seed: int,
) -> Measures:
    """Train on a drawn bandit, with batches that are used for many steps or for one.

    Args:
      recipe: the algorithm.
      use: whether each batch is used for as many steps as the family draws, or for one.
      learning_rate: step size.
      seeds, seed: number of runs; base of their random numbers and of the task.
    """
    generator = np.random.default_rng([seed, 9])
    arms = int(np.exp(generator.uniform(np.log(16), np.log(129))))
    options: dict[str, Any] = {
        "states": int(np.exp(generator.uniform(np.log(2), np.log(33)))),
        "arms": arms,
        "good": round(arms * generator.uniform(0.1, 0.5)),
        "pays": float(generator.uniform(0.6, 1.0)),
        "spread": float(generator.uniform(0.5, 2.0)),
        "prompts": 20,
        "seed": seed,
    }
    sizes: dict[str, Any] = {
        "prompts": int(generator.integers(8, 17)),
        "group_size": int(generator.choice([4, 8, 16])),
    }
    drawn: dict[str, Any] = {
        "epochs": int(generator.choice([2, 4, 8])),
        "minibatches": int(generator.choice([2, 4, 8])),
    }
    measures = trained(
        task=noisy_bandit,
        task_options=options,
        recipe=recipe,
        record=("reward",),
        updates=30,
        learning_rate=learning_rate,
        seeds=seeds,
        seed=seed,
        **sizes,
        **(drawn if use == "drawn" else {}),
    )
    return measures | {"largest fall": largest_fall(measures["reward"])}


def _best(recipe: Recipe) -> Arm:
    return tuned(learned, Tuning("learning_rate", RATES, by="mean reward"), recipe=recipe)


def _falls_less(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(f"{says} the stop makes falls smaller", "largest fall", left, "less", right, 0.02, main)


def _reward(says: str, left: str, expect: Literal["more", "same"], right: str) -> Prediction:
    return Prediction(says, "mean reward", left, expect, right, 0.02)


EXPERIMENT = Experiment(
    name="early_stop",
    title="Does dropping minibatches with extreme ratios make training more stable?",
    group="clipping",
    claim="Dropping minibatches whose importance ratio is extreme (early_stop_imp_ratio = 5) makes training"
    " more stable, at no cost where ratios are tame.",
    source="RLinf's documentation of GRPO, early_stop_imp_ratio",
    family="Bandits of 2 to 32 states and 16 to 128 arms (both log-uniform), of which 10 to 50 % are good. A"
    " good arm pays for a share of 0.6 to 1 of the prompts, which the policy cannot tell apart, and a bad arm"
    " for the rest. Drawn are also how sharp the policy is at first (a standard deviation of its logits of"
    " 0.5 to 2), the number of prompts (8 to 16), the size of the groups (4, 8 or 16), how many passes are"
    " made over a batch (2, 4 or 8) and into how many parts each is cut (2, 4 or 8).",
    run="30 batches are learned with Adam and without a KL penalty, each used for 4 to 64 optimizer steps;"
    " in `once` for one step. With the early stop, a part of a batch is dropped if the mean ratio of its"
    f" tokens is above {MAX_RATIO:g}. It is tested with GRPO's clip of 0.2, as in RLinf, and without a"
    " clip. The recipes are compared at their best learning rates and at the same rates.",
    measured="The largest fall of the reward below its best so far, in means of"
    f" {WINDOW} updates; and the reward as a mean of all updates, by which the learning rate is chosen.",
    arms={label: _best(recipe) for label, recipe in RECIPES.items()}
    | {
        f"{label}, at {rate:g}": arm(learned, recipe=recipe, learning_rate=rate)
        for label, recipe in RECIPES.items()
        for rate in FIXED
    }
    | {f"{label}, once": arm(learned, recipe=RECIPES[label], use="once") for label in (FREE, FREE_STOP)},
    predictions=(
        _falls_less("With GRPO's clip", CLIP_STOP, CLIP, main=True),
        _falls_less("Without a clip", FREE_STOP, FREE, main=True),
        _reward("With the clip the stop gains reward", CLIP_STOP, "more", CLIP),
        _reward("Without a clip the stop gains reward", FREE_STOP, "more", FREE),
        _falls_less("At a rate of 1, with the clip", f"{CLIP_STOP}, at 1", f"{CLIP}, at 1"),
        _falls_less("At a rate of 1, without a clip", f"{FREE_STOP}, at 1", f"{FREE}, at 1"),
        _reward(
            "At a rate of 1, without a clip it gains reward", f"{FREE_STOP}, at 1", "more", f"{FREE}, at 1"
        ),
        _reward("Without a clip, the stop does the clip's work", FREE_STOP, "same", CLIP),
        Prediction(
            "Where ratios are tame the stop costs nothing",
            "mean reward",
            f"{FREE_STOP}, once",
            "same",
            f"{FREE}, once",
            0.001,
        ),
    ),
    panels=(
        Points(
            "largest fall",
            "largest fall of the reward",
            x={label: {f"{label}, at {rate:g}": rate for rate in FIXED} for label in RECIPES},
            xlabel="learning rate",
            log="x",
        ),
        Grid("reward, mean of all updates", arms=tuple(RECIPES)),
    ),
)
