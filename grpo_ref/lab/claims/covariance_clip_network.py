"""Claim: holding back the tokens of highest covariance keeps a network's entropy, and it ends higher."""

from functools import cache
from typing import Any

import numpy as np

from grpo_ref.lab.claims.covariance_clip import (
    ANY,
    BONUS,
    HIGHER,
    KEPT,
    PLAIN,
    RECIPES,
    SHARE,
    clip_covariance,
)
from grpo_ref.lab.framework.experiment import (
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    arm,
    tuned,
)
from grpo_ref.lab.framework.network import RATES, SUMS, Started, imitator, network_curves, sums
from grpo_ref.lab.framework.tasks.noisy_bandit import noisy_bandit
from grpo_ref.lab.framework.training import summarized
from grpo_ref.recipes import Recipe

SIZES: dict[str, Any] = {"updates": 30, "prompts": 16, "group_size": 8, "minibatches": 4}
"""Batches, prompts of each, completions per prompt, and optimizer steps of each batch."""
FEW_RATES = RATES._replace(values=(0.001, 0.003, 0.01))
RATE = 0.003
"""The learning rate where the entropy is compared at one rate, since it depends on that."""


def train_on_sums(*, recipe: Recipe, learning_rate: float, seeds: int, seed: int, **config: Any) -> Measures:
    """Train a network on sums; "correct" and "entropy" are those of each batch as it is sampled."""
    settings = {**SIZES, **config, "learning_rate": learning_rate, "seeds": seeds, "seed": seed}
    return summarized(network_curves(sums(seed), recipe, ("correct", "entropy"), **settings))


@cache
def drawn_bandit(seed: int) -> Started:
    """A bandit with many good arms and noisy rewards, and a network that reads the number of the state."""
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
    return imitator(task, task.starts[:, None], seed=seed)


def train_on_bandit(*, recipe: Recipe, learning_rate: float = RATE, seeds: int, seed: int) -> Measures:
    """Train a network on a bandit of `drawn_bandit`; "correct" is the share with reward 1."""
    settings = {**SIZES, "learning_rate": learning_rate, "seeds": seeds, "seed": seed}
    curves = network_curves(drawn_bandit(seed), recipe, ("reward", "entropy"), **settings)
    return summarized({"correct": curves["reward"], "entropy": curves["entropy"]})


CONTROL = "any tokens"
MANY = RECIPES | {CONTROL: clip_covariance(SHARE, cov_low=-ANY, cov_high=ANY)}


def _higher(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final correct", left, "more", right, HIGHER, main)


def _keeps(says: str, left: str, right: str) -> Prediction:
    return Prediction(says, "final entropy", left, "more", right, KEPT)


EXPERIMENT = Experiment(
    name="covariance_clip_network",
    title="Do Clip-Cov and KL-Cov keep the entropy up, with a network?",
    policy="network",
    beside="covariance_clip",
    group="clipping",
    claim="The entropy collapses through a few tokens whose advantage and log-probability go together; to"
    " hold these back, by no gradient (Clip-Cov) or a penalty (KL-Cov), keeps the entropy up and ends"
    " higher, where a pretrained network answers all questions with the same weights.",
    source="Cui et al. 2025, The entropy mechanism (arXiv:2505.22617), abstract, which was read; the"
    " surrogates are verl's",
    family=SUMS,
    run=f"{SIZES['updates']} batches of {SIZES['prompts']} groups of {SIZES['group_size']} are learned with"
    f" Adam in {SIZES['minibatches']} steps each, without a KL penalty. Clip-Cov removes the gradient of"
    f" {SHARE:.0%} of a step's tokens, and KL-Cov adds a penalty to as many. In the control `any tokens`, as"
    " many tokens get no gradient, but they are chosen without the covariance. Another arm is GRPO with an"
    f" entropy bonus of {BONUS}. Each arm is trained at its best learning rate, and in `equal rate` at"
    f" {RATE}. In `many` the tasks are bandits, where 2 to half of the 8 to 24 arms are good and rewards are"
    " noisy: a good arm pays 1 for 60 to 90 % of the prompts, a bad one for the others; there the learning"
    f" rate is {RATE} for all.",
    measured="The share of right completions by the labels, and the entropy in nats per token, as sampled at"
    " temperature 1, over the last fifth of the training.",
    arms={label: tuned(train_on_sums, FEW_RATES, recipe=recipe) for label, recipe in RECIPES.items()}
    | {"entropy bonus": tuned(train_on_sums, FEW_RATES, recipe=PLAIN, entropy_coef=BONUS)}
    | {
        f"{label}, equal rate": arm(train_on_sums, recipe=one, learning_rate=RATE)
        for label, one in MANY.items()
    }
    | {f"many, {label}": arm(train_on_bandit, recipe=recipe) for label, recipe in MANY.items()},
    predictions=(
        _higher("Clip-Cov ends higher than GRPO", "Clip-Cov", "GRPO", main=True),
        _higher("KL-Cov ends higher than GRPO", "KL-Cov", "GRPO", main=True),
        _keeps("Clip-Cov keeps more entropy than GRPO", "Clip-Cov, equal rate", "GRPO, equal rate"),
        _keeps("KL-Cov keeps more entropy than GRPO", "KL-Cov, equal rate", "GRPO, equal rate"),
        Prediction(
            "Control: without a choice by covariance the entropy is that of GRPO",
            "final entropy",
            f"{CONTROL}, equal rate",
            "same",
            "GRPO, equal rate",
            KEPT,
        ),
        _higher("KL-Cov ends higher than with an entropy bonus", "KL-Cov", "entropy bonus"),
        _keeps("Where many answers are right, Clip-Cov keeps more entropy", "many, Clip-Cov", "many, GRPO"),
        _keeps("Where many answers are right, KL-Cov keeps more entropy", "many, KL-Cov", "many, GRPO"),
        _keeps(
            "Where many answers are right, Clip-Cov keeps more than without its choice",
            "many, Clip-Cov",
            f"many, {CONTROL}",
        ),
        _higher("Where many answers are right, Clip-Cov ends higher", "many, Clip-Cov", "many, GRPO"),
        _higher("Where many answers are right, KL-Cov ends higher", "many, KL-Cov", "many, GRPO"),
    ),
    panels=(
        Curves("entropy", "entropy (nats per token)", arms=tuple(f"{label}, equal rate" for label in MANY)),
        Grid("right completions at the end (share)"),
    ),
)
