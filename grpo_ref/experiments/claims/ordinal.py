"""Claim: ranks are more robust than rewards where the scores of a reward model are distorted or noisy."""

from dataclasses import replace
from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.experiments.framework.experiment import Arm, Curves, Experiment, Points, Prediction, arm
from grpo_ref.experiments.framework.training import trained
from grpo_ref.learning.tasks.task import END, Task
from grpo_ref.recipes import GOPO, GRPO, Recipe

PROMPTS, CHOICES, LENGTH = 16, 8, 3
STEEPNESS = 50.0
"""Of the convex scores, which are exp(steepness x quality)."""
NOISE = 0.1
"""Scale of the Cauchy errors: half of them are smaller than this, and their variance is not finite."""
PASS = 0.6
"""The lowest quality with which a completion passes a test."""


def judged_by_model(*, scores: str) -> Task:
    """Completions of three tokens with a hidden quality, the mean of the qualities of the tokens.

    The reward is the score that a model gives to the completion, always the same to the same text.

    Args:
      scores: "exact", the quality itself; "convex", a steep function of it, in the same order; "noisy", the
        quality plus an error for each text, which may be huge; "binary", whether the quality passes.
    """
    states = np.arange(PROMPTS * LENGTH)
    following = np.where(states % LENGTH == LENGTH - 1, END, states + 1)
    generator = np.random.default_rng(0)
    qualities = generator.random((PROMPTS, LENGTH, CHOICES))
    errors = NOISE * generator.standard_cauchy((PROMPTS, CHOICES**LENGTH))
    return Task(
        name="judged_by_model",
        vocabulary=tuple("abcdefgh"),
        transitions=np.repeat(following[:, None], CHOICES, axis=1),
        prompts=tuple("ABCDEFGHIJKLMNOP"),
        starts=np.arange(PROMPTS) * LENGTH,
        prompt_probs=np.full(PROMPTS, 1.0 / PROMPTS),
        max_length=LENGTH,
        ref_logits=np.zeros((PROMPTS * LENGTH, CHOICES)),
        verify=partial(_judge, qualities, errors, scores),
        criteria=("score", "quality"),
        weights=np.array([1.0, 0.0]),
        settings={"updates": 150, "prompts": 8, "group_size": 8, "learning_rate": 0.05},
    )


def _judge(
    qualities: Floats, errors: Floats, scores: str, prompts: Integers, tokens: Integers, mask: Bools
) -> Floats:
    """(..., P, G, 2): the model's score and the quality."""
    places = np.arange(LENGTH)
    quality = qualities[prompts[..., None, None], places, tokens].mean(-1)
    text = (tokens * CHOICES**places).sum(-1)
    score = {
        "exact": quality,
        "convex": np.exp(STEEPNESS * quality),
        "noisy": quality + errors[prompts[..., None], text],
        "binary": (quality >= PASS).astype(np.float64),
    }[scores]
    return np.stack([score, quality], axis=-1)


def _with(scores: str, recipe: Recipe) -> Arm:
    options = {"scores": scores}
    return arm(trained, task=judged_by_model, task_options=options, recipe=recipe, record=("quality",))


MAGNITUDES = replace(GRPO, kl_coef=0.0)
RANKS = replace(GOPO, kl_coef=0.0)

EXPERIMENT = Experiment(
    name="ordinal",
    group="rewards",
    claim="Ranks (GOPO) do better than rewards where these come from a model that distorts them or is noisy;"
    " rewards do better where they are verified and binary.",
    source="a book chapter on GRPO (2026, not public), sec. 7.5.12; GOPO (arXiv:2602.03876)",
    run=f"Completions of {LENGTH} tokens have a hidden quality between 0 and 1. The reward is the quality;"
    f" or exp({STEEPNESS:g} quality); or the quality plus an error for each text (Cauchy, scale {NOISE:g});"
    f" or 1 where the quality is at least {PASS:g} and else 0. The algorithm is GRPO without a KL penalty,"
    " with its own advantages or with ranks.",
    measured="The mean hidden quality (0 to 1), over the last fifth of the updates (final) and over all"
    " updates (mean).",
    arms={
        f"{how}, {scores}": _with(scores, recipe)
        for scores in ("exact", "convex", "noisy", "binary")
        for how, recipe in (("GRPO", MAGNITUDES), ("ranks", RANKS))
    },
    predictions=(
        Prediction(
            "Ranks do not notice a distortion that keeps the order",
            "mean quality",
            "ranks, convex",
            "same",
            "ranks, exact",
            0.001,
        ),
        Prediction(
            "Where scores are distorted, ranks learn faster",
            "mean quality",
            "ranks, convex",
            "more",
            "GRPO, convex",
            0.01,
        ),
        Prediction(
            "Where scores are distorted, ranks end better",
            "final quality",
            "ranks, convex",
            "more",
            "GRPO, convex",
            0.01,
        ),
        Prediction(
            "Where scores are noisy, ranks learn faster",
            "mean quality",
            "ranks, noisy",
            "more",
            "GRPO, noisy",
            0.01,
        ),
        Prediction(
            "Where scores are noisy, ranks end better",
            "final quality",
            "ranks, noisy",
            "more",
            "GRPO, noisy",
            0.01,
        ),
        Prediction(
            "Where rewards are binary, rewards do better",
            "mean quality",
            "ranks, binary",
            "less",
            "GRPO, binary",
            0.01,
        ),
    ),
    panels=(
        Curves(
            "quality",
            "hidden quality (0 to 1)",
            arms=("GRPO, convex", "ranks, convex", "GRPO, noisy", "ranks, noisy"),
        ),
        Points("final quality", "hidden quality at the end (0 to 1)"),
    ),
    remark="The division by the standard deviation of the group already limits what a distortion can do: no"
    " advantage of GRPO is larger than (G - 1)/√G. With binary rewards, ranks are centered rewards that are"
    " not divided.",
    chosen="The noise was made heavier and the distortion steeper after trial runs, to give the claim its"
    " best chance.",
)
