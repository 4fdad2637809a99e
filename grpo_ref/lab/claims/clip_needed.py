"""Claim: neither the clip nor the ratio is needed, but samples below the baseline are."""

from dataclasses import replace

import numpy as np

from grpo_ref.advantages import group_normalized
from grpo_ref.arrays import Array
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Expectation,
    Experiment,
    Grid,
    Points,
    Prediction,
    arm,
    tuned,
)
from grpo_ref.lab.framework.network import RATES, SUMS
from grpo_ref.lab.framework.stability import FALL, measure_stability
from grpo_ref.lab.framework.tasks.digit_sums import PLAIN
from grpo_ref.recipes import Recipe, slot
from grpo_ref.surrogates import importance_weighted, reinforce

PROMPTS, GROUP = 8, 8
"""Prompts of a batch, and completions per prompt."""
OLD = 8
"""Age of the sampler, in updates, where batches are stale."""
FAST = 0.01
"""A learning rate that is too large for every arm with 4 steps."""
MATTERS = 0.02
"""The largest difference in right answers that does not matter."""


def kept_signs(rewards: Array, *, positive: float, negative: float) -> Array:
    """Return GRPO's advantages, with those above and below the baseline multiplied by a weight each.

    Args:
      rewards: (..., P, G).
      positive, negative: weight of the advantages above 0 and of those below 0.

    >>> kept_signs(np.array([[1.0, 0.0]]), positive=1.0, negative=0.0).round(3).tolist()
    [[1.0, 0.0]]
    """
    advantages = group_normalized(rewards, ddof=0)
    return positive * np.maximum(advantages, 0.0) + negative * np.minimum(advantages, 0.0)


CLIP, RGRA, RATIO, ABOVE, BELOW = "GRPO", "RGRA", "ratio, no clip", "positive only", "negative only"
RECIPES: dict[str, Recipe] = {
    CLIP: PLAIN,
    RGRA: replace(PLAIN, surrogate=slot(reinforce)),
    RATIO: replace(PLAIN, surrogate=slot(importance_weighted)),
    ABOVE: replace(PLAIN, advantage=slot(kept_signs, positive=1.0, negative=0.0)),
    BELOW: replace(PLAIN, advantage=slot(kept_signs, positive=0.0, negative=1.0)),
}
ONCE, FOUR, SIXTEEN, STALE = "1 step", "4 steps", "16 steps", "stale"
USES: dict[str, dict[str, int]] = {
    ONCE: {"updates": 32},
    FOUR: {"updates": 20, "epochs": 2, "minibatches": 2},
    SIXTEEN: {"updates": 12, "epochs": 8, "minibatches": 2},
    STALE: {"updates": 32, "age": OLD},
}
"""Use of the batches -> number of batches, passes over a batch, its parts, and the age of its sampler."""
TRIED = {
    ONCE: (0.003, 0.01, 0.03),
    FOUR: (0.001, 0.003, 0.01),
    SIXTEEN: (0.0003, 0.001, 0.003),
    STALE: (0.001, 0.003, 0.01, 0.03),
}
"""Use of the batches -> learning rates to choose from. The more steps, the smaller."""


def _label(name: str, use: str) -> str:
    return f"{name}, {use}"


def _tuned(name: str, use: str) -> Arm:
    rates = RATES._replace(values=TRIED[use])
    sizes = {"prompts": PROMPTS, "group_size": GROUP} | USES[use]
    return tuned(measure_stability, rates, recipe=RECIPES[name], known=None, **sizes)


def _fast(name: str) -> str:
    return _label(name, f"{FOUR}, rate {FAST}")


def _too_fast(name: str) -> Arm:
    sizes = {"prompts": PROMPTS, "group_size": GROUP} | USES[FOUR]
    return arm(measure_stability, recipe=RECIPES[name], known=None, learning_rate=FAST, **sizes)


def _ends(
    says: str, name: str, expect: Expectation, use: str, *, than: str = CLIP, main: bool = False
) -> Prediction:
    pair = _label(name, use), _label(than, use)
    return Prediction(says, "final correct", pair[0], expect, pair[1], MATTERS, main)


COMPARED = {
    ONCE: (CLIP, ABOVE, BELOW),
    FOUR: (CLIP, RGRA, RATIO),
    SIXTEEN: (CLIP, RGRA, ABOVE, BELOW),
    STALE: (CLIP, RGRA),
}
"""Use of the batches -> recipes that are compared. In a single step GRPO, RGRA and the ratio are the same."""

EXPERIMENT = Experiment(
    name="clip_needed",
    title="Is clipping needed at all, and are negative samples?",
    group="clipping",
    policy="network",
    claim="The clip and the ratio are not needed: REINFORCE with group-relative advantages (RGRA) performs at"
    " least as well as GRPO. Negative feedback is essential: training only on actions above the baseline"
    " limits learning. Negative samples alone often match GRPO.",
    source="Carrino et al. 2026, Are complicated loss functions necessary for teaching LLMs to reason?"
    " (arXiv:2603.18756, abstract), for clip and negative feedback; Zhu et al. 2025 (arXiv:2506.01347,"
    " abstract), for negative samples alone",
    family=SUMS,
    run=f"GRPO trains the transformer with Adam and without a KL penalty, on batches of {PROMPTS} x {GROUP}"
    " completions: 32 batches of 1 step, 20 of 4 steps, 12 of 16 steps, or 32 batches of 1 step that were"
    f" sampled by the policy of {OLD} updates ago (stale). Its clip range is 0.2. RGRA has neither clip nor"
    " ratio; another arm has the ratio, but no clip. Other arms have GRPO's clip, but advantages only of"
    " completions above the baseline (positive only) or below it (negative only). With 4 steps GRPO and RGRA"
    f" are also compared at the same rate of {FAST:g}, which is too large.",
    measured="The exact probability of the true sum at temperature 1, as a mean over all questions and over"
    " the last fifth of the updates, by which the learning rate is chosen. A run falls if its right answers"
    f" were once more than {FALL:g} below their best so far, in means of 5 updates.",
    arms={_label(name, use): _tuned(name, use) for use, names in COMPARED.items() for name in names}
    | {_fast(name): _too_fast(name) for name in (CLIP, RGRA)},
    predictions=(
        _ends("With 4 steps RGRA ends where GRPO ends", RGRA, "same", FOUR),
        _ends("With 16 steps RGRA ends where GRPO ends", RGRA, "same", SIXTEEN, main=True),
        _ends("On stale batches RGRA ends where GRPO ends", RGRA, "same", STALE),
        _ends("With 1 step positive samples alone end lower", ABOVE, "less", ONCE),
        _ends("With 16 steps positive samples alone end lower", ABOVE, "less", SIXTEEN, main=True),
        _ends("With 1 step negative samples alone end where GRPO ends", BELOW, "same", ONCE),
        _ends("With 16 steps negative samples alone end where GRPO ends", BELOW, "same", SIXTEEN, main=True),
        _ends("With 4 steps the ratio without a clip ends where GRPO ends", RATIO, "same", FOUR),
        Prediction(
            f"At an equal rate of {FAST:g} RGRA ends where GRPO ends",
            "final correct",
            _fast(RGRA),
            "same",
            _fast(CLIP),
            MATTERS,
        ),
        Prediction(
            f"At an equal rate of {FAST:g} as many runs fall as with GRPO",
            "falls",
            _fast(RGRA),
            "same",
            _fast(CLIP),
            0.05,
        ),
    ),
    panels=(
        Points("final correct", "right answers at the end (share)"),
        Curves(
            "correct",
            "right answers (share)",
            arms=tuple(_label(name, SIXTEEN) for name in COMPARED[SIXTEEN]),
        ),
        Grid("right answers at the end (share)"),
    ),
)
