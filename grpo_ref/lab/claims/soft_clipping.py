"""Claim: hard clipping has a cliff; the soft weights of SAPO and VESPO do better on stale data."""

from dataclasses import replace

import numpy as np

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
from grpo_ref.lab.framework.reused_batches import FAMILY, reused
from grpo_ref.lab.framework.stale_data import DISTANCES, alignment, expected_push, stale_policies
from grpo_ref.recipes import GRPO, SAPO, VESPO, Recipe, slot
from grpo_ref.surrogates import clipped

HARD = replace(GRPO, kl_coef=0.0)
UNCLIPPED = replace(HARD, surrogate=slot(clipped, clip_low=0.9999, clip_high=1e9))
SETTINGS = {
    "hard clip": (HARD, {"clip_low": 0.2, "clip_high": 0.2}),
    "SAPO": (SAPO, {"tau_positive": 1.0, "tau_negative": 1.05}),
    "VESPO": (VESPO, {"k_positive": 2.0, "lambda_positive": 3.0, "k_negative": 3.0, "lambda_negative": 2.0}),
}
"""Recipes, and what their surrogates can be set to: the values of the authors."""
RATES = Tuning("learning_rate", (0.03, 0.1, 0.3, 1.0), by="mean reward")
OFTEN_RATES = Tuning("learning_rate", (0.01, 0.03, 0.1, 0.3), by="mean reward")


def scaled(label: str, factor: float) -> Recipe:
    """A recipe with every setting of its surrogate so many times as large."""
    recipe, settings = SETTINGS[label]
    given = {name: factor * value for name, value in settings.items()}
    return replace(recipe, surrogate=slot(recipe.surrogate.kernel, **given))


def sensitive(
    *, recipe: Recipe, halved: Recipe, doubled: Recipe, learning_rate: float, seeds: int, seed: int
) -> Measures:
    """Train with a recipe; and "spread", how far its mean reward and those of two others lie apart."""
    found = [
        reused(recipe=one, learning_rate=learning_rate, seeds=seeds, seed=seed)
        for one in (recipe, halved, doubled)
    ]
    gained = np.stack([one["mean reward"] for one in found])
    return found[0] | {"spread": np.ptp(gained, axis=0)}


def pushed(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """Cosine between the expected push of a recipe and the exact gradient, at growing distances."""
    stale = stale_policies(DISTANCES, seeds=seeds, seed=seed)
    return {"alignment by distance": alignment(expected_push(recipe, stale), stale)}


def _trained(label: str) -> Arm:
    recipes = {"recipe": 1.0, "halved": 0.5, "doubled": 2.0}
    return tuned(sensitive, RATES, **{name: scaled(label, factor) for name, factor in recipes.items()})


def _more(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "mean reward", left, "more", right, 0.02, main)


EXPERIMENT = Experiment(
    name="soft_clipping",
    title="Are the smooth weights of SAPO and VESPO better than hard clipping?",
    group="clipping",
    claim="The cliff of hard clipping makes training sensitive to the clip range and unstable; the smooth"
    " weights of SAPO and VESPO do not, and handle stale data.",
    source="Gao et al. 2025, SAPO (arXiv:2511.20347); VESPO (arXiv:2602.10693); a book chapter on GRPO"
    " (2026, not public), sec. 7.5.6 and 7.5.8",
    family=FAMILY,
    run="40 batches are learned with Adam and without a KL penalty, each used for 2 to 16 optimizer steps;"
    " in `once` for one step, and in `often` for 16 steps (8 passes over 2 parts). The `hard clip` is GRPO's."
    " Each recipe also learns with all settings of its surrogate halved and doubled, at the learning rate"
    " that is best without this. One recipe does not clip at all. In a language of 243 completions whose"
    " policy has moved away from the sampler, the expected update of each surrogate is compared with the"
    " exact gradient.",
    measured="The reward (share of right words) as a mean over training, by which the learning rate is"
    " chosen; its spread, which is the difference between the best and the worst of the three settings;"
    " and its largest fall below its best so far (means of 5 updates).",
    arms={label: _trained(label) for label in SETTINGS}
    | {"no clip": tuned(reused, RATES, recipe=UNCLIPPED)}
    | {
        f"{label}, often": tuned(reused, OFTEN_RATES, recipe=scaled(label, 1.0), use="often")
        for label in SETTINGS
    }
    | {f"{label}, once": arm(reused, recipe=scaled(label, 1.0), use="once") for label in SETTINGS}
    | {f"{label}, push": arm(pushed, recipe=scaled(label, 1.0)) for label in SETTINGS},
    predictions=(
        _more("SAPO gains more reward", "SAPO", "hard clip", main=True),
        _more("VESPO gains more reward", "VESPO", "hard clip", main=True),
        Prediction("SAPO's settings matter less", "spread", "SAPO", "less", "hard clip", 0.01),
        Prediction("VESPO's settings matter less", "spread", "VESPO", "less", "hard clip", 0.01),
        Prediction("SAPO falls less", "largest fall", "SAPO", "less", "hard clip", 0.02),
        Prediction("VESPO falls less", "largest fall", "VESPO", "less", "hard clip", 0.02),
        _more("Used 16 times, SAPO gains more", "SAPO, often", "hard clip, often"),
        _more("Used 16 times, VESPO gains more", "VESPO, often", "hard clip, often"),
        _more("SAPO gains more than without any clip", "SAPO", "no clip"),
        Prediction(
            "Used once, SAPO is as hard clipping",
            "mean reward",
            "SAPO, once",
            "same",
            "hard clip, once",
            0.001,
        ),
        Prediction(
            "Used once, VESPO is as hard clipping",
            "mean reward",
            "VESPO, once",
            "same",
            "hard clip, once",
            0.001,
        ),
    ),
    panels=(
        Curves(
            "alignment by distance",
            "cosine between push and exact gradient",
            xlabel="KL from the sampler (nats per completion)",
            x=DISTANCES,
            log="x",
        ),
        Grid("reward, mean of all updates", arms=(*SETTINGS, "no clip")),
    ),
)
