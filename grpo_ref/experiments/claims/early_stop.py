"""Claim: off-policy training is more stable without the minibatches whose importance ratio is extreme."""

from dataclasses import replace
from typing import Any, Literal

from grpo_ref.experiments.framework.experiment import (
    Arm,
    Experiment,
    Grid,
    Points,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.experiments.framework.reused_batches import FAMILY, WINDOW, reused
from grpo_ref.kernels.corrections import early_stop
from grpo_ref.kernels.surrogates import importance_weighted
from grpo_ref.recipes import GRPO, Recipe, slot

MAX_RATIO = 5.0
"""RLinf's early_stop_imp_ratio."""


def _stopped(recipe: Recipe) -> Recipe:
    return replace(recipe, corrections=(slot(early_stop, max_ratio=MAX_RATIO),))


CLIP, CLIP_STOP, FREE, FREE_STOP = "clip", "clip, early stop", "no clip", "no clip, early stop"
CLIPPED = replace(GRPO, kl_coef=0.0)
UNCLIPPED = replace(CLIPPED, surrogate=slot(importance_weighted))
RECIPES = {CLIP: CLIPPED, CLIP_STOP: _stopped(CLIPPED), FREE: UNCLIPPED, FREE_STOP: _stopped(UNCLIPPED)}
RATES, OFTEN_RATES = (0.03, 0.1, 0.3, 1.0), (0.01, 0.03, 0.1, 0.3)
FIXED = (0.1, 0.3, 1.0, 3.0)
"""Learning rates at which all recipes are compared."""


def _best(recipe: Recipe, rates: tuple[float, ...] = RATES, **settings: Any) -> Arm:
    return tuned(reused, Tuning("learning_rate", rates, by="mean reward"), recipe=recipe, **settings)


def _falls_less(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(f"{says} the stop makes falls smaller", "largest fall", left, "less", right, 0.02, main)


def _reward(says: str, left: str, expect: Literal["more", "same"], right: str) -> Prediction:
    return Prediction(says, "mean reward", left, expect, right, 0.02)


EXPERIMENT = Experiment(
    name="early_stop",
    group="clipping",
    claim="Dropping minibatches whose importance ratio is extreme (early_stop_imp_ratio = 5) makes training"
    " more stable, at no cost where ratios are tame.",
    source="RLinf's documentation of GRPO, early_stop_imp_ratio",
    family=FAMILY,
    run="40 batches are learned with Adam and without a KL penalty, each used for 2 to 16 steps, or always 16"
    " times, 8 passes over 2 parts, or once. A part is dropped if the mean ratio of its tokens is above"
    f" {MAX_RATIO:g}; with GRPO's clip of 0.2, as RLinf has it, and without a clip. The recipes are also"
    " compared at the same learning rates.",
    measured="The largest fall of the reward (share of right words) below its best so far, in means of"
    f" {WINDOW} updates; and the reward as a mean of all updates, by which the learning rate is chosen.",
    arms={label: _best(recipe) for label, recipe in RECIPES.items()}
    | {f"{label}, often": _best(recipe, OFTEN_RATES, use="often") for label, recipe in RECIPES.items()}
    | {
        f"{label}, at {rate:g}": arm(reused, recipe=recipe, learning_rate=rate)
        for label, recipe in RECIPES.items()
        for rate in FIXED
    }
    | {f"{label}, once": arm(reused, recipe=RECIPES[label], use="once") for label in (FREE, FREE_STOP)},
    predictions=(
        _falls_less("With GRPO's clip", CLIP_STOP, CLIP, main=True),
        _falls_less("Without a clip", FREE_STOP, FREE, main=True),
        _reward("With the clip the stop gains reward", CLIP_STOP, "more", CLIP),
        _reward("Without a clip the stop gains reward", FREE_STOP, "more", FREE),
        _falls_less("Used 16 times, with the clip", f"{CLIP_STOP}, often", f"{CLIP}, often"),
        _falls_less("Used 16 times, without a clip", f"{FREE_STOP}, often", f"{FREE}, often"),
        _falls_less("At a rate of 1, with the clip", f"{CLIP_STOP}, at 1", f"{CLIP}, at 1"),
        _falls_less("At a rate of 1, without a clip", f"{FREE_STOP}, at 1", f"{FREE}, at 1"),
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
    chosen="Before, the experiment was a single task with settings that were varied until the stop had work"
    " to do.",
)
