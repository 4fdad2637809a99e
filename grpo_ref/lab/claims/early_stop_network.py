"""Claim: a network is more stable without the minibatches whose importance ratio is extreme."""

from dataclasses import replace
from typing import Literal

from grpo_ref.corrections import early_stop
from grpo_ref.lab.framework.experiment import (
    Arm,
    Experiment,
    Points,
    Prediction,
    arm,
    tuned,
)
from grpo_ref.lab.framework.network import RATES
from grpo_ref.lab.framework.stability import (
    EXTREME,
    FALL,
    FAMILY,
    GROUP,
    MEASURED,
    PROMPTS,
    measure_stability,
)
from grpo_ref.recipes import GRPO, Recipe, slot
from grpo_ref.surrogates import clipped

OLD, UPDATES, EPOCHS, PARTS = 4, 20, 2, 4
"""Age of the sampler in updates, number of batches, passes over a batch, and parts, with one step each."""
TRIED = RATES._replace(values=(0.0003, 0.001, 0.003), by="mean correct")
TAME, TOO_FAST = 0.001, 0.01
"""A learning rate at which ratios are tame if batches are fresh and used once, and one that is too fast."""


def _stopped(recipe: Recipe) -> Recipe:
    return replace(recipe, corrections=(slot(early_stop, max_ratio=EXTREME),))


CLIP, CLIP_STOP, FREE, FREE_STOP = "clip", "clip, early stop", "no clip", "no clip, early stop"
CLIPPED = replace(GRPO, kl_coef=0.0)
UNCLIPPED = replace(CLIPPED, surrogate=slot(clipped, clip_low=0.9999, clip_high=1e9))
RECIPES = {CLIP: CLIPPED, CLIP_STOP: _stopped(CLIPPED), FREE: UNCLIPPED, FREE_STOP: _stopped(UNCLIPPED)}


def _best(recipe: Recipe) -> Arm:
    sizes = {"age": OLD, "updates": UPDATES, "epochs": EPOCHS, "minibatches": PARTS}
    return tuned(measure_stability, TRIED, recipe=recipe, **sizes)


def _tame(recipe: Recipe) -> Arm:
    return arm(measure_stability, recipe=recipe, learning_rate=TAME, updates=UPDATES, minibatches=PARTS)


def _fast(label: str) -> str:
    return f"{label}, too fast"


def _falls_less(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(f"{says} the stop makes falls smaller", "largest fall", left, "less", right, 0.02, main)


def _rarer(says: str, left: str, right: str) -> Prediction:
    return Prediction(f"{says} fewer runs fall by more than {FALL:g}", "falls", left, "less", right, 0.05)


def _answers(says: str, left: str, expect: Literal["more", "same"], right: str) -> Prediction:
    return Prediction(says, "mean correct", left, expect, right, 0.02)


EXPERIMENT = Experiment(
    name="early_stop_network",
    title="Does dropping minibatches with extreme ratios make a network more stable?",
    beside="early_stop",
    policy="network",
    group="clipping",
    claim="Dropping minibatches whose importance ratio is extreme (early_stop_imp_ratio = 5) makes training"
    " more stable, at no cost where ratios are tame, where a pretrained network answers all questions with"
    " the same weights.",
    source="RLinf's documentation of its configuration, algorithm.early_stop_imp_ratio, and its Megatron"
    " actor",
    family=FAMILY,
    run=f"{UPDATES} batches of {PROMPTS} x {GROUP} completions, each sampled by the policy of {OLD} updates"
    f" ago, are learned with Adam and without a KL penalty, in {EPOCHS} passes over {PARTS} parts. A part is"
    f" dropped if the mean ratio of its tokens is above {EXTREME:g}. The stop is compared with GRPO's clip of"
    f" 0.2, as in RLinf, and without a clip, at the best learning rate of each. In `too fast` the rate is"
    f" {TOO_FAST:g}, which is too large. In `once` the batches are fresh and used for one pass.",
    measured=f"{MEASURED} Extreme updates are those in which a part has a mean ratio above {EXTREME:g}.",
    arms={label: _best(recipe) for label, recipe in RECIPES.items()}
    | {_fast(label): _best(recipe).at(TOO_FAST) for label, recipe in RECIPES.items()}
    | {f"{label}, once": _tame(RECIPES[label]) for label in (FREE, FREE_STOP)},
    predictions=(
        _falls_less("With GRPO's clip", CLIP_STOP, CLIP, main=True),
        _falls_less("Where the rate is too fast, with the clip", _fast(CLIP_STOP), _fast(CLIP), main=True),
        _falls_less("Where the rate is too fast, without a clip", _fast(FREE_STOP), _fast(FREE), main=True),
        _falls_less("Without a clip", FREE_STOP, FREE),
        _rarer("Where the rate is too fast, with the clip and the stop", _fast(CLIP_STOP), _fast(CLIP)),
        _rarer("Where the rate is too fast, without a clip but with the stop", _fast(FREE_STOP), _fast(FREE)),
        _answers("With the clip the stop gains right answers", CLIP_STOP, "more", CLIP),
        _answers("Without a clip the stop gains right answers", FREE_STOP, "more", FREE),
        _answers(
            "Where the rate is too fast, without a clip, it gains right answers",
            _fast(FREE_STOP),
            "more",
            _fast(FREE),
        ),
        _answers("Without a clip, the stop does the clip's work", FREE_STOP, "same", CLIP),
        Prediction(
            "Where ratios are tame the stop costs nothing",
            "mean correct",
            f"{FREE_STOP}, once",
            "same",
            f"{FREE}, once",
            0.001,
        ),
    ),
    panels=(
        Points(
            "largest fall",
            "largest fall of the right answers",
            arms=(*RECIPES, *(_fast(label) for label in RECIPES)),
        ),
        Points(
            "extreme",
            f"updates with a mean ratio above {EXTREME:g} (share)",
            arms=(*RECIPES, *(_fast(label) for label in RECIPES)),
        ),
    ),
)
