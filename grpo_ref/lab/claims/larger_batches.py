"""Claim: larger batches profit more from batch-level scaling."""

from dataclasses import replace
from typing import Any

from grpo_ref.advantages import batch_normalized
from grpo_ref.lab.framework.experiment import (
    Arm,
    Experiment,
    Grid,
    Measures,
    Points,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.lab.framework.tasks.words import FAMILY, words_by_heart
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.recipes import GRPO, LITE_PPO, Recipe, slot

MARGIN = 0.01
GROUP, UPDATES = 8, 60
BATCHES = (4, 12, 36)
"""Prompts of a batch."""
PLAIN = replace(GRPO, kl_coef=0.0)
SCALED = replace(PLAIN, advantage=LITE_PPO.advantage)
BATCH_MEAN = replace(PLAIN, advantage=slot(batch_normalized))
RATES = (0.03, 0.1, 0.3, 1.0, 3.0)


def learned(
    *,
    recipe: Recipe,
    prompts: int,
    learning_rate: float,
    seeds: int,
    seed: int,
    updates: int = UPDATES,
    partial_reward: bool = True,
) -> Measures:
    """Train on a task of the family with so many prompts for each batch."""
    task = words_by_heart(seed, partial_reward=partial_reward)
    settings = config_for(
        task,
        seeds=seeds,
        seed=seed,
        learning_rate=learning_rate,
        prompts=prompts,
        group_size=GROUP,
        updates=updates,
    )
    found = curves(task, recipe, settings, ("correct",))
    means = summarized(found)
    return {name: means[name] for name in ("mean correct", "final correct")}


def gained(*, plain: Recipe, scaled: Recipe, **settings: Any) -> Measures:
    """Return the gain of scaling over dividing by the group's own deviation, at one learning rate."""
    ours, theirs = (learned(recipe=one, **settings)["mean correct"] for one in (scaled, plain))
    return {"gain": ours - theirs, "mean correct of both": (ours + theirs) / 2.0}


def _gain(prompts: int, scaled: Recipe = SCALED, **settings: Any) -> Arm:
    rates = Tuning("learning_rate", RATES, by="mean correct of both")
    return tuned(gained, rates, plain=PLAIN, scaled=scaled, prompts=prompts, **settings)


def _alone(recipe: Recipe, prompts: int) -> Arm:
    return tuned(learned, Tuning("learning_rate", RATES, by="mean correct"), recipe=recipe, prompts=prompts)


def _grows(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "gain", left, "more", right, MARGIN, main)


SMALL, MIDDLE, LARGE = BATCHES
EXPERIMENT = Experiment(
    name="larger_batches",
    title="Do larger batches gain more from batch-level reward scaling?",
    group="advantages",
    claim="Larger batch sizes benefit more from batch-level scaling.",
    source="REINFORCE++ (arXiv:2501.03262), whose abstract says that the bias of a batch's normalization"
    " vanishes as the batch grows; a book chapter on GRPO (2026, not public), sec. 7.5.10, as a finding"
    " of ScaleRL (arXiv:2510.13786), whose abstract does not have it",
    family=FAMILY,
    run=f"Batch-level scaling divides advantages by the standard deviation of the batch, group-level scaling"
    " by that of the group. Both subtract the mean of the group. There are"
    f" {UPDATES} updates with Adam and without a KL penalty, of {SMALL}, {MIDDLE} or {LARGE} prompts with"
    f" {GROUP} completions each. Two sizes are also compared with as many completions: {UPDATES} updates of"
    f" {LARGE} prompts, or {UPDATES * LARGE // MIDDLE} of {MIDDLE} ('longer'). 'Batch mean' subtracts the"
    " mean of the batch, which is the formula of the book chapter. In the control ('one reward') only the"
    " right word is rewarded, so that no group differs by little.",
    measured="The share of right completions, as sampled at temperature 1 and judged by the labels, as a mean"
    " over all updates; the learning rate is chosen by it. The gain of a batch size is this mean with"
    " batch-level scaling minus that with group-level scaling, at one learning rate for both, chosen by their"
    " average.",
    arms={
        **{f"gain, {prompts} prompts": _gain(prompts) for prompts in BATCHES},
        f"gain, {MIDDLE} prompts, longer": _gain(MIDDLE, updates=UPDATES * LARGE // MIDDLE),
        f"gain, batch mean, {SMALL} prompts": _gain(SMALL, BATCH_MEAN),
        f"gain, batch mean, {LARGE} prompts": _gain(LARGE, BATCH_MEAN),
        f"gain, one reward, {SMALL} prompts": _gain(SMALL, partial_reward=False),
        f"gain, one reward, {LARGE} prompts": _gain(LARGE, partial_reward=False),
        **{
            f"{name}, {prompts} prompts": _alone(recipe, prompts)
            for prompts in (SMALL, LARGE)
            for name, recipe in (("group scaling", PLAIN), ("batch scaling", SCALED))
        },
    },
    predictions=(
        _grows(
            "Large batches gain more from batch scaling than small ones",
            f"gain, {LARGE} prompts",
            f"gain, {SMALL} prompts",
            main=True,
        ),
        _grows(
            "With the chapter's formula, too, large batches gain more",
            f"gain, batch mean, {LARGE} prompts",
            f"gain, batch mean, {SMALL} prompts",
            main=True,
        ),
        _grows(
            "Batches of a middle size gain more than small ones",
            f"gain, {MIDDLE} prompts",
            f"gain, {SMALL} prompts",
        ),
        _grows(
            "Large batches gain more than middle ones with as many completions",
            f"gain, {LARGE} prompts",
            f"gain, {MIDDLE} prompts, longer",
        ),
        Prediction(
            "Control: where only the right word is rewarded, the gain does not depend on the batch",
            "gain",
            f"gain, one reward, {LARGE} prompts",
            "same",
            f"gain, one reward, {SMALL} prompts",
            MARGIN,
        ),
        *(
            Prediction(
                f"Each at its own learning rate: batch scaling helps with {prompts} prompts",
                "mean correct",
                f"batch scaling, {prompts} prompts",
                "more",
                f"group scaling, {prompts} prompts",
                MARGIN,
            )
            for prompts in (SMALL, LARGE)
        ),
    ),
    panels=(
        Points(
            "gain",
            "gain from batch scaling\n(share of right completions)",
            arms=tuple(f"gain, {prompts} prompts" for prompts in BATCHES)
            + tuple(
                f"gain, {name}, {size} prompts"
                for name in ("batch mean", "one reward")
                for size in (SMALL, LARGE)
            ),
            x={
                "group mean": {f"gain, {prompts} prompts": prompts for prompts in BATCHES},
                "batch mean": {f"gain, batch mean, {prompts} prompts": prompts for prompts in (SMALL, LARGE)},
                "one reward": {f"gain, one reward, {prompts} prompts": prompts for prompts in (SMALL, LARGE)},
            },
            xlabel="prompts of a batch",
            log="x",
        ),
        Grid(
            "right completions (mean over updates)",
            arms=tuple(
                f"{name}, {prompts} prompts"
                for name in ("group scaling", "batch scaling")
                for prompts in (SMALL, LARGE)
            ),
        ),
    ),
)
