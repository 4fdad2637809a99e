"""Claim: the gradients of the fifth of the tokens with the highest entropy suffice, for a network as well."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from grpo_ref.corrections import top_entropy
from grpo_ref.lab.claims.entropy_tokens import MATTERS, PLAIN, SHARE, any_tokens, low_entropy
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    tuned,
)
from grpo_ref.lab.framework.network import RATES, Started, imitator, network_curves
from grpo_ref.lab.framework.tasks.forks import VARIANTS, forks
from grpo_ref.lab.framework.training import summarized
from grpo_ref.recipes import Recipe, slot

SIZES: dict[str, Any] = {"updates": 40, "prompts": 8, "group_size": 8}
"""Batches, prompts of each, and completions per prompt."""
LENGTHS = (6, 10)
"""Shortest and longest completion; shorter than the table's, so that a transformer is quick enough."""
FEW_RATES = RATES._replace(values=(0.001, 0.003, 0.01), by="mean right")


@cache
def drawn(seed: int) -> Started:
    """A task of `forks`, and a network that reads the number of the prompt and the tokens so far."""
    task = forks(seed, stubborn=0, lengths=LENGTHS)
    letters = len(task.vocabulary)
    question = np.arange(len(task.prompts)) // VARIANTS
    # Three digits to the base of the number of letters, which is at least 3, for up to 12 questions.
    digits = np.stack([question // letters**2, question // letters % letters, question % letters], axis=-1)
    return imitator(task, digits, seed=seed)


def train_on_forks(*, recipe: Recipe, learning_rate: float, seeds: int, seed: int) -> Measures:
    """Train a network on a task of `drawn`."""
    settings = {**SIZES, "learning_rate": learning_rate, "seeds": seeds, "seed": seed}
    return summarized(network_curves(drawn(seed), recipe, ("right",), **settings))


def _at_best(**kept: Any) -> Arm:
    """All tokens, or those that a correction lets through."""
    corrections = tuple(slot(kernel, share=share) for kernel, share in kept.values())
    return tuned(train_on_forks, FEW_RATES, recipe=replace(PLAIN, corrections=corrections))


EXPERIMENT = Experiment(
    name="entropy_tokens_network",
    title="Is it enough to train on the 20 % of tokens with the highest entropy, with a network?",
    policy="network",
    beside="entropy_tokens",
    group="aggregation",
    claim="The fifth of the tokens with the highest entropy, the forks, suffices: training on their gradients"
    " alone is as good as on all tokens or better, and training on the other tokens is much worse, where a"
    " pretrained network answers all prompts with the same weights.",
    source="Wang et al. 2025, Beyond the 80/20 rule (arXiv:2506.01939), abstract, which was read; TRL"
    " `top_entropy_quantile`",
    family=f"4 to 12 prompts are answered with {LENGTHS[0]} to {LENGTHS[1]} tokens out of 3 to 8. All of them"
    " must be right. 10 to 50 % of the places are forks; the right token of the others has a probability of"
    " 0.97 to 0.999. Drawn are also how likely all forks are right at first (2 to 50 %, log-uniform) and the"
    " share of the labels that differ in a fork by luck (0 to 0.3). A small transformer (one layer, width 32,"
    " two heads) reads the number of the prompt and the tokens so far. It first imitates 4096 answers of a"
    " table with these chances.",
    run=f"{SIZES['updates']} batches of {SIZES['prompts']} groups of {SIZES['group_size']} are learned with"
    " Adam, in one step each, by GRPO with the token mean and without a KL penalty. The gradient is taken"
    " from all tokens, from the fifth of the batch's tokens with the highest entropy, from all but these"
    " (“lowest four fifths”), or from a random fifth (“any fifth”).",
    measured="The share of right completions by the labels, as sampled at temperature 1: over the last fifth"
    " of the training, and as a mean over all of it, by which the learning rate is chosen.",
    arms={
        "all tokens": _at_best(),
        "highest fifth": _at_best(kept=(top_entropy, SHARE)),
        "lowest four fifths": _at_best(kept=(low_entropy, SHARE)),
        "any fifth": _at_best(kept=(any_tokens, SHARE)),
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
    ),
    panels=(
        Curves("right", "right completions (share)"),
        Grid("right completions, mean of all updates (share)"),
    ),
)
