"""Claim: one ratio per sequence (GSPO) is better than one per token (GRPO) when a batch is used often."""

from dataclasses import replace

import numpy as np

from grpo_ref.experiments.framework.experiment import Arm, Curves, Experiment, Measures, Prediction, arm
from grpo_ref.experiments.framework.stale_data import (
    COMPARED_AT,
    DISTANCES,
    alignment,
    expected_push,
    stale_policies,
)
from grpo_ref.experiments.framework.tasks.spelling import spelling
from grpo_ref.experiments.framework.training import trained
from grpo_ref.kernels.levels import sequence_sum_level
from grpo_ref.kernels.surrogates import clipped, importance_weighted
from grpo_ref.recipes import GRPO, GSPO, Recipe, slot

TOKEN = replace(GRPO, kl_coef=0.0)
SEQUENCE = replace(TOKEN, level=GSPO.level, surrogate=GSPO.surrogate)
CHAPTER_SEQUENCE = replace(SEQUENCE, surrogate=slot(clipped, clip_low=0.2, clip_high=0.2))
TOKEN_WEIGHT = replace(TOKEN, surrogate=slot(importance_weighted))
MEAN_WEIGHT = replace(TOKEN_WEIGHT, level=GSPO.level)
PRODUCT_WEIGHT = replace(TOKEN_WEIGHT, level=sequence_sum_level)


def reused(*, recipe: Recipe, unknown: float, epochs: int, seeds: int, seed: int) -> Measures:
    """Train, and keep the largest fall of the reward below its best so far."""
    measures = trained(
        task=spelling,
        task_options={"unknown": unknown},
        recipe=recipe,
        record=("reward",),
        updates=40,
        prompts=8,
        epochs=epochs,
        learning_rate=0.3,
        seeds=seeds,
        seed=seed,
    )
    curve = measures["reward"]
    return measures | {"largest fall": (np.maximum.accumulate(curve, axis=-1) - curve).max(-1)}


def aligned(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """Cosine between the expected push of a recipe and the exact gradient, at growing distances."""
    stale = stale_policies(DISTANCES, seeds=seeds, seed=seed)
    curve = alignment(expected_push(recipe, stale), stale)
    return {"alignment by distance": curve, "alignment": curve[:, DISTANCES.index(COMPARED_AT)]}


def _reused(recipe: Recipe, *, unknown: float, epochs: int = 8) -> Arm:
    return arm(reused, recipe=recipe, unknown=unknown, epochs=epochs)


EXPERIMENT = Experiment(
    name="sequence_ratio",
    group="clipping",
    claim="When a batch is used for several steps, GSPO's ratio of the sequence is theoretically correct and"
    " more stable than GRPO's ratios of the tokens; when it is used once, there is no difference.",
    source="a book chapter on GRPO (2026, not public), sec. 7.5.3; Zheng et al. 2025, GSPO"
    " (arXiv:2507.18071)",
    run="Four words of 12 letters are spelled, and are right if half of the letters are; once more with half"
    " of the letters left to luck. There are 40 batches of 8 prompts with groups of 8, each used for 1 or 8"
    " steps. And in a language of 243 completions whose policy has moved away from the sampler, the expected"
    " push of each ratio, unclipped, is compared with the exact gradient of the expected reward.",
    measured="The reward (share of right words), its largest fall below its best so far, and the cosine"
    f" between push and gradient at {COMPARED_AT} nats per completion from the sampler.",
    arms={
        "GRPO, once": _reused(TOKEN, unknown=0.0, epochs=1),
        "GSPO, once": _reused(SEQUENCE, unknown=0.0, epochs=1),
        "GRPO": _reused(TOKEN, unknown=0.0),
        "GSPO": _reused(SEQUENCE, unknown=0.0),
        "GRPO, luck": _reused(TOKEN, unknown=0.5),
        "GSPO, luck": _reused(SEQUENCE, unknown=0.5),
        "GSPO clipped at 0.2, luck": _reused(CHAPTER_SEQUENCE, unknown=0.5),
        "ratio of each token (GRPO)": arm(aligned, recipe=TOKEN_WEIGHT),
        "their geometric mean (GSPO)": arm(aligned, recipe=MEAN_WEIGHT),
        "their product": arm(aligned, recipe=PRODUCT_WEIGHT),
    },
    predictions=(
        Prediction(
            "Used once, GSPO and GRPO are the same",
            "final reward",
            "GSPO, once",
            "same",
            "GRPO, once",
            margin=0.001,
        ),
        Prediction(
            "Used 8 times, GSPO gains more reward over the whole training",
            "mean reward",
            "GSPO",
            "more",
            "GRPO",
            margin=0.01,
        ),
        Prediction(
            "Used 8 times with luck in the reward, GSPO ends higher",
            "final reward",
            "GSPO, luck",
            "more",
            "GRPO, luck",
            margin=0.01,
        ),
        Prediction(
            "Used 8 times with luck in the reward, GSPO falls less on the way",
            "largest fall",
            "GSPO, luck",
            "less",
            "GRPO, luck",
            margin=0.01,
        ),
        Prediction(
            "On stale data GSPO's weight is nearer to the exact gradient than GRPO's",
            "alignment",
            "their geometric mean (GSPO)",
            "more",
            "ratio of each token (GRPO)",
            margin=0.01,
        ),
        Prediction(
            "On stale data GSPO's weight gives the exact gradient",
            "alignment",
            "their geometric mean (GSPO)",
            "same",
            1.0,
            margin=0.01,
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
        Curves(
            "reward",
            "reward (share of right words)",
            arms=("GRPO", "GSPO", "GRPO, luck", "GSPO, luck", "GSPO clipped at 0.2, luck"),
        ),
    ),
    remark="Only the product of the token ratios is the correct weight; GSPO's geometric mean lies between"
    " this product and GRPO's ratio of the token.",
    chosen="The arms with luck were added after a first look. GSPO's gain in reward depends on the learning"
    " rate: in a trial at a third of this rate it was a loss.",
)
