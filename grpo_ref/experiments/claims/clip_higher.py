"""Claim: symmetric clipping makes the entropy collapse, and a wider upper bound keeps it up."""

from dataclasses import replace

from grpo_ref.experiments.framework.experiment import Arm, Curves, Experiment, Points, Prediction, arm
from grpo_ref.experiments.framework.tasks.noisy_bandit import noisy_bandit
from grpo_ref.experiments.framework.training import trained
from grpo_ref.kernels.surrogates import clipped, importance_weighted
from grpo_ref.recipes import GRPO, Recipe, slot

UNCLIPPED = replace(GRPO, surrogate=slot(importance_weighted), kl_coef=0.0)
UPPER_BOUNDS = {"symmetric, 0.2": 0.2, "clip-higher, 0.28": 0.28, "clip-higher, 1": 1.0}


def _clipped(clip_high: float) -> Recipe:
    return replace(UNCLIPPED, surrogate=slot(clipped, clip_low=0.2, clip_high=clip_high))


def _arm(recipe: Recipe, *, pays: float) -> Arm:
    return arm(
        trained,
        task=noisy_bandit,
        task_options={"pays": pays},
        recipe=recipe,
        record=("reward", "entropy"),
        updates=200,
        prompts=8,
        epochs=8,
        optimizer="sgd",
        learning_rate=1.0,
    )


EXPERIMENT = Experiment(
    name="clip_higher",
    group="clipping",
    claim="Symmetric clipping holds back rare tokens and makes the entropy collapse; a wider upper bound"
    " (clip-higher) keeps the entropy up.",
    source="Yu et al. 2025, DAPO, sec. 3.1 (arXiv:2503.14476); a book chapter on GRPO (2026, not public),"
    " sec. 7.5.2",
    run="In a bandit the good arms, 8 of 16, pay for 70 % of the prompts that the policy cannot tell apart,"
    " and the bad arms pay for 32.5 %; and once more without luck, for 100 % and 0 %. There are 200 batches"
    " of 8 prompts with groups of 8, and each batch is used for 8 steps. The lower bound is 0.2 in all arms"
    " but 'no clip'.",
    measured="The entropy of the policy (nats per token; 2.1 for an even choice among the good arms) and the"
    " reward, at the end of training.",
    arms={
        "no clip": _arm(UNCLIPPED, pays=0.7),
        **{label: _arm(_clipped(clip_high), pays=0.7) for label, clip_high in UPPER_BOUNDS.items()},
        "no luck: symmetric": _arm(_clipped(0.2), pays=1.0),
        "no luck: clip-higher": _arm(_clipped(0.28), pays=1.0),
    },
    predictions=(
        Prediction(
            "Clip-higher keeps more entropy than symmetric clipping",
            "final entropy",
            "clip-higher, 0.28",
            "more",
            "symmetric, 0.2",
            margin=0.05,
        ),
        Prediction(
            "A still wider upper bound keeps still more",
            "final entropy",
            "clip-higher, 1",
            "more",
            "clip-higher, 0.28",
            margin=0.05,
        ),
        Prediction(
            "Symmetric clipping keeps less than no clipping at all",
            "final entropy",
            "symmetric, 0.2",
            "less",
            "no clip",
            margin=0.05,
        ),
        Prediction(
            "The entropy is not paid for with reward",
            "final reward",
            "clip-higher, 0.28",
            "same",
            "symmetric, 0.2",
            margin=0.02,
        ),
        Prediction(
            "Without luck in the payoffs, too, clip-higher keeps more entropy",
            "final entropy",
            "no luck: clip-higher",
            "more",
            "no luck: symmetric",
            margin=0.05,
        ),
    ),
    panels=(
        Curves("entropy", "entropy (nats per token)", arms=("no clip", *UPPER_BOUNDS)),
        Points("final entropy", "entropy at the end (nats per token)"),
    ),
    remark="The bound matters for tokens whose advantage is luck: it stops the rare ones and lets the"
    " frequent ones go on. Where the reward has no luck in it, the policy loses entropy by learning, and"
    " with a wider bound it learns faster.",
    chosen="The arms without luck were added after a first look. The difference between symmetric clipping"
    " and no clipping depends on the number of updates.",
)
