"""Claim: hard clipping has a cliff; the soft weights of SAPO and VESPO do better on stale data."""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Floats
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
from grpo_ref.kernels.surrogates import clipped, sapo, vespo
from grpo_ref.recipes import GRPO, SAPO, VESPO, Recipe, slot

HARD = replace(GRPO, kl_coef=0.0)
NEARBY = {
    "hard clip": replace(HARD, surrogate=slot(clipped, clip_low=0.22, clip_high=0.22)),
    "SAPO": replace(SAPO, surrogate=slot(sapo, tau_positive=1.1, tau_negative=1.155)),
    "VESPO": replace(
        VESPO,
        surrogate=slot(vespo, k_positive=2.2, lambda_positive=3.3, k_negative=3.3, lambda_negative=2.2),
    ),
}
"""The same recipes with every setting of the surrogate 10 % larger."""


def pushed(*, recipe: Recipe, nearby: Recipe, seeds: int, seed: int) -> Measures:
    """Compare the expected push with the exact gradient, and see how much it changes with the settings."""
    stale = stale_policies(DISTANCES, seeds=seeds, seed=seed)
    push, other = expected_push(recipe, stale), expected_push(nearby, stale)
    change = _length(other - push) / _length(push)
    return {
        "alignment by distance": alignment(push, stale),
        "change of the push": change[:, DISTANCES.index(COMPARED_AT)],
    }


def _length(table: Floats) -> Floats:
    length: Floats = np.sqrt((table**2).sum((-2, -1)))
    return length


def _pushed(label: str, recipe: Recipe) -> Arm:
    return arm(pushed, recipe=recipe, nearby=NEARBY[label])


def _trained(recipe: Recipe, *, unknown: float) -> Arm:
    return arm(
        trained,
        task=spelling,
        task_options={"unknown": unknown},
        recipe=recipe,
        record=("reward",),
        updates=40,
        prompts=8,
        epochs=8,
        learning_rate=0.3,
    )


EXPERIMENT = Experiment(
    name="soft_clipping",
    group="clipping",
    claim="The cliff of hard clipping makes training sensitive to the clip range and unstable; the smooth"
    " weights of SAPO and VESPO do not, and handle stale data.",
    source="a book chapter on GRPO (2026, not public), sec. 7.5.6 and 7.5.8; Gao et al. 2025, SAPO"
    " (arXiv:2511.20347); VESPO (arXiv:2602.10693)",
    run="In a language of 243 completions whose policy has moved away from the sampler, the expected push of"
    " each surrogate is computed, and computed again with its settings 10 % larger. And four words of 12"
    " letters are spelled, and are right if half of the letters are, without luck and with half of the"
    " letters left to luck: there are 40 batches of 8 prompts with groups of 8, each used for 8 steps.",
    measured=f"The relative change of the push at {COMPARED_AT} nats per completion from the sampler; and"
    " the reward (share of right words), as a mean over all of training and at its end.",
    arms={
        "hard clip, push": _pushed("hard clip", HARD),
        "SAPO, push": _pushed("SAPO", SAPO),
        "VESPO, push": _pushed("VESPO", VESPO),
        "hard clip": _trained(HARD, unknown=0.0),
        "SAPO": _trained(SAPO, unknown=0.0),
        "VESPO": _trained(VESPO, unknown=0.0),
        "hard clip, luck": _trained(HARD, unknown=0.5),
        "SAPO, luck": _trained(SAPO, unknown=0.5),
        "VESPO, luck": _trained(VESPO, unknown=0.5),
    },
    predictions=(
        Prediction(
            "With settings 10 % larger, SAPO's push changes less than that of hard clipping",
            "change of the push",
            "SAPO, push",
            "less",
            "hard clip, push",
            margin=0.02,
        ),
        Prediction(
            "With settings 10 % larger, VESPO's push changes less than that of hard clipping",
            "change of the push",
            "VESPO, push",
            "less",
            "hard clip, push",
            margin=0.02,
        ),
        Prediction(
            "On stale data SAPO gains more reward over the whole training",
            "mean reward",
            "SAPO",
            "more",
            "hard clip",
            margin=0.01,
        ),
        Prediction(
            "On stale data VESPO gains more reward over the whole training",
            "mean reward",
            "VESPO",
            "more",
            "hard clip",
            margin=0.01,
        ),
        Prediction(
            "With luck in the reward, SAPO ends higher",
            "final reward",
            "SAPO, luck",
            "more",
            "hard clip, luck",
            margin=0.01,
        ),
        Prediction(
            "With luck in the reward, VESPO ends higher",
            "final reward",
            "VESPO, luck",
            "more",
            "hard clip, luck",
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
        Curves("reward", "reward (share of right words)"),
    ),
    remark="A surrogate that keeps on pushing learns faster, from luck as well: SAPO follows the exact"
    " gradient of stale data for longer, and so it does not hold the policy near the sampler, which is what"
    " a trust region is for.",
    chosen="The arms with luck were added after a first look.",
)
