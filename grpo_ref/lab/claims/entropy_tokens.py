"""Claim: the gradients of the fifth of the tokens with the highest entropy suffice."""

from dataclasses import replace
from typing import Any

from grpo_ref.aggregation import token_mean
from grpo_ref.arrays import Array, array_namespace
from grpo_ref.corrections import top_entropy
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
from grpo_ref.lab.framework.tasks.forks import forks
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.recipes import GRPO, Recipe, slot

SHARE, FEW = 0.2, 0.05
"""Shares of the tokens whose gradients are used: the paper's share, and a smaller one."""
MATTERS = 0.02
"""The largest difference in the share of right completions that does not matter."""
RATES = Tuning("learning_rate", (0.1, 0.3, 1.0, 3.0, 10.0), by="mean right")
PLAIN = replace(GRPO, kl_coef=0.0, aggregate=slot(token_mean))


def low_entropy(entropies: Array, mask: Array, *, share: float) -> Array:
    """(P, G, T) 1 on all tokens but the share with the highest entropy."""
    highest = top_entropy(entropies, mask, share=share)
    return array_namespace(mask).where(highest > 0.0, 0.0, 1.0) * mask


def any_tokens(noise: Array, mask: Array, *, share: float) -> Array:
    """(P, G, T) 1 on a random share of the tokens."""
    return array_namespace(mask).where(noise < share, 1.0, 0.0) * mask


def learned(*, recipe: Recipe, stubborn: int = 0, seeds: int, seed: int, **config: Any) -> Measures:
    """Train on a drawn task of `forks`; config are fields of `TrainConfig`."""
    task = forks(seed, stubborn=stubborn)
    sizes: dict[str, Any] = {"updates": 80, "prompts": 8, "group_size": 8}
    settings = config_for(task, **sizes, **config, seeds=seeds, seed=seed)
    return summarized(curves(task, recipe, settings, ("right",)))


def _tuned(*, stubborn: int = 0, **kept: Any) -> Arm:
    """All tokens, or those that a correction lets through."""
    corrections = tuple(slot(kernel, share=share) for kernel, share in kept.values())
    return tuned(learned, RATES, recipe=replace(PLAIN, corrections=corrections), stubborn=stubborn)


EXPERIMENT = Experiment(
    name="entropy_tokens",
    title="Is it enough to train on the 20 % of tokens with the highest entropy?",
    group="aggregation",
    claim="The fifth of the tokens with the highest entropy, the forks, suffices: training on their gradients"
    " alone is as good as on all tokens or better, and training on the other tokens is much worse.",
    source="Wang et al. 2025, Beyond the 80/20 rule (arXiv:2506.01939), abstract, which was read; TRL"
    " `top_entropy_quantile`",
    family="4 to 12 prompts are answered with 8 to 16 tokens out of 3 to 8, all of which must be right. 10 to"
    " 50 % of the places are forks; the right token of the others has a probability of 0.97 to 0.999. Drawn"
    " are also how likely all forks are right at first (2 to 50 %, log-uniform) and the share of the labels"
    " that differ in a fork by luck (0 to 0.3).",
    run="80 batches of 8 groups of 8 are learned with Adam, in one step each, by GRPO with the token mean and"
    " without a KL penalty. The gradient is taken from all tokens, from the fifth or the twentieth of the"
    " batch's tokens with the highest entropy, from all but the highest fifth (“lowest four fifths”), or from"
    " a random fifth (“any fifth”). In the “surely wrong” tasks the reference gives a probability of 0.8 to"
    " 0.95 to a wrong token in one place, which is no fork.",
    measured="The share of right completions by the labels, as sampled at temperature 1: over the last fifth"
    " of the training, and as a mean over all of it, by which the learning rate is chosen.",
    arms={
        "all tokens": _tuned(),
        "highest fifth": _tuned(kept=(top_entropy, SHARE)),
        "highest twentieth": _tuned(kept=(top_entropy, FEW)),
        "lowest four fifths": _tuned(kept=(low_entropy, SHARE)),
        "any fifth": _tuned(kept=(any_tokens, SHARE)),
        "surely wrong, all": _tuned(stubborn=1),
        "surely wrong, fifth": _tuned(stubborn=1, kept=(top_entropy, SHARE)),
    },
    predictions=(
        Prediction(
            "The highest fifth ends where all tokens end",
            "final right",
            "highest fifth",
            "same",
            "all tokens",
            MATTERS,
            main=True,
        ),
        Prediction(
            "The lowest four fifths end lower than all tokens",
            "final right",
            "lowest four fifths",
            "less",
            "all tokens",
            MATTERS,
            main=True,
        ),
        Prediction(
            "The highest fifth learns as fast as all tokens",
            "mean right",
            "highest fifth",
            "same",
            "all tokens",
            MATTERS,
        ),
        Prediction(
            "Control: it learns faster than any fifth",
            "mean right",
            "highest fifth",
            "more",
            "any fifth",
            MATTERS,
        ),
        Prediction(
            "The highest twentieth learns more slowly than all tokens",
            "mean right",
            "highest twentieth",
            "less",
            "all tokens",
            MATTERS,
        ),
        Prediction(
            "Where the reference is surely wrong in places, the highest fifth learns more slowly",
            "mean right",
            "surely wrong, fifth",
            "less",
            "surely wrong, all",
            MATTERS,
        ),
    ),
    panels=(
        Curves(
            "right",
            "right completions (share)",
            arms=("all tokens", "highest fifth", "highest twentieth", "lowest four fifths", "any fifth"),
        ),
        Grid(
            "right completions, mean of all updates (share)",
            arms=("all tokens", "highest fifth", "highest twentieth", "lowest four fifths", "any fifth"),
        ),
    ),
)
