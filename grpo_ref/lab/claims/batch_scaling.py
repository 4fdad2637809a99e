"""Claim: batch-level reward scaling and token-level loss are modest alone and synergistic together."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.advantages import batch_normalized
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
from grpo_ref.lab.framework.tasks.words import FAMILY, words_by_heart
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.recipes import GRPO, LITE_PPO, Recipe, slot

MARGIN = 0.01


def learned(
    *, recipe: Recipe, learning_rate: float, seeds: int, seed: int, partial_reward: bool = True
) -> Measures:
    """Train on a task of the family."""
    task = words_by_heart(seed, partial_reward=partial_reward)
    settings = config_for(task, seeds=seeds, seed=seed, learning_rate=learning_rate)
    return summarized(curves(task, recipe, settings, ("correct",)))


def interaction(
    *, neither: Recipe, scaling: Recipe, token_loss: Recipe, both: Recipe, **config: Any
) -> Measures:
    """Return the gain of both changes together minus the sum of their single gains, at one learning rate.

    (both - neither) - (scaling - neither) - (token_loss - neither)
    """
    found = [learned(recipe=one, **config)["mean correct"] for one in (both, scaling, token_loss, neither)]
    return {
        "interaction": found[0] - found[1] - found[2] + found[3],
        "mean correct of the four": np.mean(found, axis=0),
    }


NEITHER = replace(GRPO, kl_coef=0.0)
SCALING = replace(NEITHER, advantage=LITE_PPO.advantage)
TOKEN_LOSS = replace(NEITHER, aggregate=LITE_PPO.aggregate)
BOTH = replace(SCALING, aggregate=LITE_PPO.aggregate)
BATCH_MEAN = slot(batch_normalized)

RATES = (0.03, 0.1, 0.3, 1.0, 3.0)


def _arm(recipe: Recipe, **settings: Any) -> Arm:
    return tuned(learned, Tuning("learning_rate", RATES, by="mean correct"), recipe=recipe, **settings)


def _synergy(**recipes: Recipe) -> Arm:
    rates = Tuning("learning_rate", RATES, by="mean correct of the four")
    parts = {"neither": NEITHER, "scaling": SCALING, "token_loss": TOKEN_LOSS, "both": BOTH}
    return tuned(interaction, rates, **(parts | recipes))


def _better(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "mean correct", left, "more", right, MARGIN, main)


EXPERIMENT = Experiment(
    name="batch_scaling",
    title="Do batch-level reward scaling and token-level loss help each other?",
    group="advantages",
    claim="Batch-level reward scaling alone and token-level loss alone are modest improvements; both"
    " together are synergistic, significantly better than either alone.",
    source="Liu et al. 2025, Lite PPO (arXiv:2508.08221), which combines the two; a book chapter on GRPO"
    " (2026, not public), sec. 7.5.10, as a finding of ScaleRL (arXiv:2510.13786)",
    family=FAMILY,
    run="There are 80 updates of 16 x 8 completions with Adam and without a KL penalty. Batch scaling divides"
    " by the standard deviation of the batch and subtracts the mean of the group, as TRL and Lite PPO do; the"
    " formula of the book chapter subtracts the mean of the batch. The token-level loss gives every token of"
    " a batch the same weight. 'Both' has batch scaling and the token-level loss. In 'one reward' words that"
    " end are not rewarded, only right words.",
    measured="The share of right completions, as sampled at temperature 1 and judged by the labels, as a mean"
    " over all updates; the learning rate is chosen by it. The interaction is what both together gain beyond"
    " the sum of what each gains alone, in the same unit, at one learning rate for all four.",
    arms={
        "GRPO": _arm(NEITHER),
        "batch scaling": _arm(SCALING),
        "token loss": _arm(TOKEN_LOSS),
        "both": _arm(BOTH),
        "GRPO, one reward": _arm(NEITHER, partial_reward=False),
        "batch scaling, one reward": _arm(SCALING, partial_reward=False),
        "interaction, group mean": _synergy(),
        "interaction, batch mean": _synergy(
            scaling=replace(SCALING, advantage=BATCH_MEAN), both=replace(BOTH, advantage=BATCH_MEAN)
        ),
    },
    predictions=(
        _better("Both are better than batch scaling alone", "both", "batch scaling", main=True),
        _better("Both are better than token-level loss alone", "both", "token loss", main=True),
        _better("Batch scaling alone helps", "batch scaling", "GRPO"),
        _better("Token-level loss alone helps", "token loss", "GRPO"),
        _better(
            "Batch scaling alone helps where only the right word is rewarded",
            "batch scaling, one reward",
            "GRPO, one reward",
        ),
        Prediction(
            "Both together gain more than the sum of their separate gains",
            "interaction",
            "interaction, group mean",
            "more",
            0.0,
            MARGIN,
        ),
        Prediction(
            "With the chapter's formula, too, both gain more than the sum of their separate gains",
            "interaction",
            "interaction, batch mean",
            "more",
            0.0,
            MARGIN,
        ),
    ),
    panels=(
        Curves(
            "correct",
            "right completions (share)",
            arms=("GRPO", "batch scaling", "token loss", "both"),
        ),
        Grid(
            "right completions (mean over updates)",
            arms=("GRPO", "batch scaling", "token loss", "both"),
        ),
    ),
)
