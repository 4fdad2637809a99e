"""Claim: holding back the tokens of highest covariance (Clip-Cov, KL-Cov) keeps entropy and ends higher."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

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
from grpo_ref.lab.framework.tasks.digit_sums import FAMILY, drawn_sums
from grpo_ref.lab.framework.tasks.exact_sums import exact
from grpo_ref.lab.framework.tasks.noisy_bandit import noisy_bandit
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.recipes import GRPO, Recipe, slot
from grpo_ref.surrogates import clip_cov, clipped, kl_cov

SIZES: Mapping[str, Any] = {"updates": 60, "prompts": 16, "group_size": 8, "minibatches": 4}
SHARE, FEWEST = 0.05, 0.0002
"""Shares of the tokens of a step without gradient: about four tokens, or the authors' share, one token."""
COEF = 1.0
"""Weight of the penalty of KL-Cov."""
BONUS = 0.01
"""Weight of an entropy bonus."""
ANY = 1e9
"""A bound of the covariance that bounds nothing."""
HIGHER, KEPT = 0.02, 0.05
"""Differences that matter: in the share right, and in the entropy, in nats per token."""
RATES = Tuning("learning_rate", (0.03, 0.1, 0.3, 1.0), by="final correct")
SHARED = 0.1
"""The learning rate where the entropy is compared at one rate, since it depends on that."""
PLAIN = replace(GRPO, kl_coef=0.0, surrogate=slot(clipped, clip_low=0.2, clip_high=0.2))


def clip_covariance(share: float, **bounds: float) -> Recipe:
    """Give no gradient to a few random tokens with a covariance between 1 and 5."""
    return replace(PLAIN, surrogate=slot(clip_cov, share=share, **bounds))


def kl_covariance(share: float) -> Recipe:
    """The tokens with the highest covariance are penalized for what they move."""
    return replace(PLAIN, surrogate=slot(kl_cov, share=share, coef=COEF))


def learned(
    *, recipe: Recipe, fixed: Mapping[str, Any] | None = None, seeds: int, seed: int, **config: Any
) -> Measures:
    """Train on a drawn task; "correct" and "entropy" are exact, as in `exact`.

    Args:
      recipe: the algorithm.
      fixed: what of the task is not drawn.
      seeds, seed: number of runs; base of their random numbers and of the task.
      config: fields of `TrainConfig` that differ from `SIZES`.
    """
    task = drawn_sums(seed, **(fixed or {}))
    settings = config_for(task, **{**SIZES, **config}, seeds=seeds, seed=seed)
    return summarized(curves(task, recipe, settings, (), **exact(task)))


def lucky(*, recipe: Recipe, learning_rate: float = SHARED, seeds: int, seed: int) -> Measures:
    """Train on a drawn bandit with many good arms and much luck; "correct" is the share that is paid."""
    generator = np.random.default_rng([seed, 8])
    arms = int(generator.integers(8, 25))
    task = noisy_bandit(
        states=int(generator.integers(2, 9)),
        arms=arms,
        good=int(generator.integers(2, arms // 2 + 1)),
        pays=generator.uniform(0.6, 0.9),
        spread=generator.uniform(0.5, 2.0),
        seed=seed,
    )
    config = config_for(task, **SIZES, learning_rate=learning_rate, seeds=seeds, seed=seed)
    found = curves(task, recipe, config, ("reward", "entropy"))
    return summarized({"correct": found["reward"], "entropy": found["entropy"]})


def _at_best(recipe: Recipe, **settings: Any) -> Arm:
    return tuned(learned, RATES, recipe=recipe, **settings)


RECIPES = {"GRPO": PLAIN, "Clip-Cov": clip_covariance(SHARE), "KL-Cov": kl_covariance(SHARE)}
CONTROLS = {
    "Clip-Cov, one token": clip_covariance(FEWEST),
    "KL-Cov, one token": kl_covariance(FEWEST),
    "any tokens": clip_covariance(SHARE, cov_low=-ANY, cov_high=ANY),
}

MANY = RECIPES | {"any tokens": CONTROLS["any tokens"]}


def _higher(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final correct", left, "more", right, HIGHER, main)


def _keeps(says: str, left: str, right: str) -> Prediction:
    return Prediction(says, "final entropy", left, "more", right, KEPT)


EXPERIMENT = Experiment(
    name="covariance_clip",
    title="Do Clip-Cov and KL-Cov keep the entropy up?",
    group="clipping",
    claim="The entropy collapses through a few tokens whose advantage and log-probability go together; to"
    " hold these back, by no gradient (Clip-Cov) or a penalty (KL-Cov), keeps the entropy up and ends"
    " higher.",
    source="Cui et al. 2025, The entropy mechanism (arXiv:2505.22617), abstract, which was read; the"
    " surrogates are verl's",
    family=FAMILY,
    run="60 batches of 16 groups of 8 are learned with Adam in four steps each, without a KL penalty."
    f" Clip-Cov removes the gradient of {SHARE:.0%} of a step's tokens, and KL-Cov adds a penalty to as"
    " many; in `one token` it is one token, which is closer to the authors' share. In the control `any"
    " tokens`, as many tokens get no gradient, but they are chosen without the covariance. Another arm is"
    f" GRPO with an entropy bonus of {BONUS}. In `hard` only 2 % of the answers are right at first. In"
    " `many` the tasks are bandits, where 2 to half of the 8 to 24 arms are good and rewards are noisy: a"
    " good arm pays 1 for 60 to 90 % of the prompts, a bad one for the others; there the learning rate is"
    f" {SHARED} for all.",
    measured="The exact share of right completions by the labels, and the exact entropy in nats per token, at"
    " temperature 1, over the last fifth of the training.",
    arms={label: _at_best(recipe) for label, recipe in (RECIPES | CONTROLS).items()}
    | {"entropy bonus": _at_best(PLAIN, entropy_coef=BONUS)}
    | {f"many, {label}": arm(lucky, recipe=recipe) for label, recipe in MANY.items()}
    | {f"hard, {label}": _at_best(recipe, fixed={"known": 0.02}) for label, recipe in RECIPES.items()},
    predictions=(
        _higher("Clip-Cov ends higher than GRPO", "Clip-Cov", "GRPO", main=True),
        _higher("KL-Cov ends higher than GRPO", "KL-Cov", "GRPO", main=True),
        _keeps("Clip-Cov keeps more entropy than GRPO", "Clip-Cov", "GRPO"),
        _keeps("KL-Cov keeps more entropy than GRPO", "KL-Cov", "GRPO"),
        _keeps("One token is enough: Clip-Cov keeps more entropy", "Clip-Cov, one token", "GRPO"),
        _keeps("One token is enough: KL-Cov keeps more entropy", "KL-Cov, one token", "GRPO"),
        Prediction(
            "Control: without a choice by covariance the entropy is that of GRPO",
            "final entropy",
            "any tokens",
            "same",
            "GRPO",
            KEPT,
        ),
        _higher("KL-Cov ends higher than with an entropy bonus", "KL-Cov", "entropy bonus"),
        _keeps("Where many answers are right, Clip-Cov keeps more entropy", "many, Clip-Cov", "many, GRPO"),
        _keeps("Where many answers are right, KL-Cov keeps more entropy", "many, KL-Cov", "many, GRPO"),
        _keeps(
            "Where many answers are right, Clip-Cov keeps more than without its choice",
            "many, Clip-Cov",
            "many, any tokens",
        ),
        _higher("Where many answers are right, Clip-Cov ends higher", "many, Clip-Cov", "many, GRPO"),
        _higher("Where many answers are right, KL-Cov ends higher", "many, KL-Cov", "many, GRPO"),
        _higher("Where little is known at first, Clip-Cov ends higher", "hard, Clip-Cov", "hard, GRPO"),
        _higher("Where little is known at first, KL-Cov ends higher", "hard, KL-Cov", "hard, GRPO"),
    ),
    panels=(
        Curves("entropy", "entropy (nats per token)", arms=(*RECIPES, "any tokens", "entropy bonus")),
        Grid("right completions at the end (share)", arms=(*RECIPES, "any tokens", "entropy bonus")),
    ),
)
