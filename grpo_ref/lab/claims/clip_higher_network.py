"""Claim: symmetric clipping makes a network's entropy collapse, and a wider upper bound keeps it up."""

from dataclasses import replace
from typing import Any

from grpo_ref.lab.framework.experiment import (
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    arm,
    tuned,
)
from grpo_ref.lab.framework.network import RATES, SUMS, network_curves, sums
from grpo_ref.lab.framework.tasks.digit_sums import PLAIN
from grpo_ref.lab.framework.training import summarized
from grpo_ref.recipes import Recipe, slot
from grpo_ref.surrogates import clipped, importance_weighted

UPDATES, PROMPTS, GROUP, EPOCHS, PARTS = 40, 16, 8, 2, 2
"""Batches, prompts of each, completions per prompt, and passes over a batch that is cut in two."""
UNCLIPPED = replace(PLAIN, surrogate=slot(importance_weighted))
NONE, SYMMETRIC, HIGHER = "no clip", "symmetric, 0.2", "clip-higher, 0.28"
FEW_RATES = RATES._replace(values=(0.001, 0.003, 0.01))


def learned(*, recipe: Recipe, seeds: int, seed: int, **config: Any) -> Measures:
    """Train a network on a task of the family, each batch used for several steps."""
    sizes = {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP}
    steps = {"epochs": EPOCHS, "minibatches": PARTS}
    settings = {**sizes, **steps, **config, "seeds": seeds, "seed": seed}
    return summarized(network_curves(sums(seed), recipe, ("correct", "entropy"), **settings))


def _clip(clip_high: float) -> Recipe:
    return replace(UNCLIPPED, surrogate=slot(clipped, clip_low=0.2, clip_high=clip_high))


BOUNDS = {NONE: UNCLIPPED, SYMMETRIC: _clip(0.2), HIGHER: _clip(0.28)}
EQUAL = (0.003, 0.01)
"""Learning rates at which entropies are compared. The smaller one decides."""


def _same_rate(label: str, rate: float = EQUAL[0]) -> str:
    return f"{label}, at {rate:g}"


EXPERIMENT = Experiment(
    name="clip_higher_network",
    title="Does clip-higher prevent entropy collapse, with a network?",
    policy="network",
    beside="clip_higher",
    group="clipping",
    claim="Symmetric clipping holds back rare tokens and makes the entropy collapse, and a wider upper bound"
    " (clip-higher) keeps it up, where a pretrained network answers all questions with the same weights.",
    source="Yu et al. 2025, DAPO, sec. 3.1 (arXiv:2503.14476); a book chapter on GRPO (2026, not public),"
    " sec. 7.5.2",
    family=SUMS,
    run=f"There are {UPDATES} batches of {PROMPTS} x {GROUP} completions, each used for {EPOCHS * PARTS}"
    f" steps: {EPOCHS} passes over {PARTS} parts. Entropies are compared at the same learning rate of"
    f" {EQUAL[0]:g}, and right answers at the best rate of each arm. The lower bound is 0.2 in all arms but"
    " 'no clip'. Adam, no"
    " KL penalty.",
    measured="The entropy of the policy in nats per token and the share of right completions, by which the"
    " learning rate is chosen, as sampled at temperature 1: means over all updates, or"
    " over the last fifth of them (final).",
    arms={label: tuned(learned, FEW_RATES, recipe=recipe) for label, recipe in BOUNDS.items()}
    | {
        _same_rate(label, rate): arm(learned, recipe=recipe, learning_rate=rate)
        for label, recipe in BOUNDS.items()
        for rate in (EQUAL[:1] if label == NONE else EQUAL)
    },
    predictions=(
        Prediction(
            "Clip-higher keeps more entropy than symmetric clipping",
            "mean entropy",
            _same_rate(HIGHER),
            "more",
            _same_rate(SYMMETRIC),
            0.05,
            main=True,
        ),
        Prediction(
            "And does not pay for it with right answers",
            "final correct",
            HIGHER,
            "same",
            SYMMETRIC,
            0.02,
            main=True,
        ),
        Prediction(
            "At the end, too, it has more entropy",
            "final entropy",
            _same_rate(HIGHER),
            "more",
            _same_rate(SYMMETRIC),
            0.05,
        ),
        Prediction(
            "Symmetric clipping keeps less than no clip",
            "mean entropy",
            _same_rate(SYMMETRIC),
            "less",
            _same_rate(NONE),
            0.05,
        ),
        Prediction(
            "At a larger rate clip-higher keeps more entropy than symmetric clipping",
            "mean entropy",
            _same_rate(HIGHER, EQUAL[1]),
            "more",
            _same_rate(SYMMETRIC, EQUAL[1]),
            0.05,
        ),
        Prediction(
            "Each at its best rate, clip-higher keeps more entropy than symmetric clipping",
            "mean entropy",
            HIGHER,
            "more",
            SYMMETRIC,
            0.05,
        ),
    ),
    panels=(
        Curves("entropy", "entropy (nats per token)", arms=tuple(map(_same_rate, BOUNDS))),
        Grid("right completions at the end (share)", arms=tuple(BOUNDS)),
    ),
)
