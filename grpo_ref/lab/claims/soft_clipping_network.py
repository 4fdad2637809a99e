"""Claim: on stale data, the soft weights of SAPO and VESPO keep a network stable; hard clipping does not."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Measures,
    Points,
    Prediction,
    arm,
    tuned,
)
from grpo_ref.lab.framework.network import RATES
from grpo_ref.lab.framework.stability import FALL, FAMILY, GROUP, MEASURED, PROMPTS, measure_stability
from grpo_ref.recipes import GRPO, SAPO, VESPO, Recipe, slot

STALE = {"age": 8, "updates": 28, "minibatches": 2}
"""Batches of the policy of 8 updates ago, with a step on each half."""
OFTEN = {"updates": 9, "epochs": 4, "minibatches": 4}
"""Fresh batches, with 16 steps on each."""
TRIED = RATES._replace(values=(0.001, 0.003, 0.01), by="mean correct")
BEST, TOO_FAST = 0.003, 0.01
"""A learning rate near the best of each arm, and one that is three times as large."""
HARD = replace(GRPO, kl_coef=0.0)
SETTINGS: dict[str, tuple[Recipe, dict[str, float]]] = {
    "hard clip": (HARD, {"clip_low": 0.2, "clip_high": 0.2}),
    "SAPO": (SAPO, {"tau_positive": 1.0, "tau_negative": 1.05}),
    "VESPO": (VESPO, {"k_positive": 2.0, "lambda_positive": 3.0, "k_negative": 3.0, "lambda_negative": 2.0}),
}
"""Recipes, and the settings of their surrogates: the values of the authors."""


def scaled(label: str, factor: float) -> Recipe:
    """Return a recipe with all settings of its surrogate multiplied; tokens are averaged as in GRPO."""
    recipe, settings = SETTINGS[label]
    surrogate = slot(recipe.surrogate.kernel, **{name: factor * value for name, value in settings.items()})
    return replace(recipe, surrogate=surrogate, aggregate=HARD.aggregate)


def sensitive(*, halved: Recipe, doubled: Recipe, **config: Any) -> Measures:
    """Train with two recipes; "spread" is the absolute difference of their mean right answers."""
    results = [measure_stability(recipe=one, **config) for one in (halved, doubled)]
    means = np.stack([one["mean correct"] for one in results])
    return {"spread": np.ptp(means, axis=0)}


def _trained_at(rate: float, label: str, sizes: dict[str, int]) -> Arm:
    return arm(measure_stability, recipe=scaled(label, 1.0), learning_rate=rate, **sizes)


def _spread(label: str) -> Arm:
    recipes = {"halved": 0.5, "doubled": 2.0}
    return arm(
        sensitive,
        learning_rate=BEST,
        **STALE,
        **{name: scaled(label, factor) for name, factor in recipes.items()},
    )


def _same_rate(label: str) -> str:
    return f"{label}, at {BEST:g}"


def _fast(label: str) -> str:
    return f"{label}, too fast"


def _often(label: str) -> str:
    return f"{label}, often"


def _falls_less(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "largest fall", left, "less", right, 0.02, main)


def _more(says: str, left: str, right: str) -> Prediction:
    return Prediction(says, "mean correct", left, "more", right, 0.02)


def _rarer(soft: str) -> Prediction:
    says = f"Where the rate is too fast, fewer runs of {soft} fall by more than {FALL:g}"
    return Prediction(says, "falls", _fast(soft), "less", _fast("hard clip"), 0.05)


EXPERIMENT = Experiment(
    name="soft_clipping_network",
    title="Do the smooth weights of SAPO and VESPO keep a network stable on stale data?",
    beside="soft_clipping",
    policy="network",
    group="clipping",
    claim="The cliff of hard clipping makes training sensitive to the clip range and unstable. The smooth"
    " weights of SAPO and VESPO are more stable on stale data and learn more, where a pretrained network"
    " answers all questions with the same weights.",
    source="Gao et al. 2025, SAPO (arXiv:2511.20347); Shen et al. 2026, VESPO (arXiv:2602.10693)",
    family=FAMILY,
    run=f"{STALE['updates']} batches of {PROMPTS} x {GROUP} completions, each sampled by the policy of"
    f" {STALE['age']} updates ago, are learned in {STALE['minibatches']} steps with Adam and without a KL"
    " penalty. The recipes differ in the weights of the tokens only. They are compared at the best learning"
    f" rate of each and at {BEST:g}, where each recipe learns with all settings of its surrogate halved, and"
    f" with all doubled. In `too fast` the rate is {TOO_FAST:g}, which is too large. In `often` the rate is"
    f" {TOO_FAST:g}, too, and {OFTEN['updates']} fresh batches are learned with"
    f" {OFTEN['epochs'] * OFTEN['minibatches']} steps on each.",
    measured=f"{MEASURED} The spread is the difference between the settings halved and doubled.",
    arms={label: tuned(measure_stability, TRIED, recipe=scaled(label, 1.0), **STALE) for label in SETTINGS}
    | {_same_rate(label): _spread(label) for label in SETTINGS}
    | {_fast(label): _trained_at(TOO_FAST, label, STALE) for label in SETTINGS}
    | {_often(label): _trained_at(TOO_FAST, label, OFTEN) for label in SETTINGS},
    predictions=(
        _falls_less(
            "Where the rate is too fast, SAPO falls less", _fast("SAPO"), _fast("hard clip"), main=True
        ),
        _falls_less(
            "Where the rate is too fast, VESPO falls less", _fast("VESPO"), _fast("hard clip"), main=True
        ),
        Prediction(
            "SAPO's settings matter less",
            "spread",
            _same_rate("SAPO"),
            "less",
            _same_rate("hard clip"),
            0.01,
            main=True,
        ),
        Prediction(
            "VESPO's settings matter less",
            "spread",
            _same_rate("VESPO"),
            "less",
            _same_rate("hard clip"),
            0.01,
        ),
        _rarer("SAPO"),
        _rarer("VESPO"),
        _falls_less("At its best rate SAPO falls less", "SAPO", "hard clip"),
        _falls_less("At its best rate VESPO falls less", "VESPO", "hard clip"),
        _falls_less("Used 16 times, SAPO falls less", _often("SAPO"), _often("hard clip")),
        _falls_less("Used 16 times, VESPO falls less", _often("VESPO"), _often("hard clip")),
        _more("Where the rate is too fast, SAPO learns more", _fast("SAPO"), _fast("hard clip")),
        _more("Where the rate is too fast, VESPO learns more", _fast("VESPO"), _fast("hard clip")),
        _more("SAPO learns more", "SAPO", "hard clip"),
        _more("VESPO learns more", "VESPO", "hard clip"),
    ),
    panels=(
        Curves(
            "correct",
            "right answers (share)",
            arms=tuple(SETTINGS) + tuple(_fast(label) for label in SETTINGS),
        ),
        Points(
            "largest fall",
            "largest fall of the right answers",
            arms=(
                *SETTINGS,
                *(_fast(label) for label in SETTINGS),
                *(_often(label) for label in SETTINGS),
            ),
        ),
    ),
)
