"""Claim: one ratio per sequence (GSPO) is better than one per token (GRPO), for a network as well."""

from dataclasses import replace
from functools import cache

import numpy as np

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
from grpo_ref.lab.framework.reused_batches import FAMILY, drawn_words, largest_fall
from grpo_ref.lab.framework.tasks.spelling import spelling
from grpo_ref.lab.framework.training import summarized
from grpo_ref.recipes import GRPO, GSPO, Recipe, slot
from grpo_ref.surrogates import clipped

UPDATES, PROMPTS, GROUP = 40, 8, 4
TOKEN = replace(GRPO, kl_coef=0.0)
SEQUENCE = replace(TOKEN, level=GSPO.level, surrogate=GSPO.surrogate)
WIDE = replace(SEQUENCE, surrogate=slot(clipped, clip_low=0.2, clip_high=0.2))


@cache
def _words(seed: int) -> Started:
    """A task of the family, and a network that sees the word's number and all letters so far."""
    options, _ = drawn_words(seed, "drawn")
    letters = options["letters"]
    task = spelling(**options)
    word = task.starts // options["length"]
    numbers = np.stack([word // letters, word % letters], axis=-1)
    return imitator(task, numbers, seed=seed, steps=200)


def reused(*, recipe: Recipe, learning_rate: float, seeds: int, seed: int) -> Measures:
    """Train a network on a drawn task with batches that are used for several steps."""
    drawn = drawn_words(seed, "drawn")[1]
    sizes = drawn | {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP}
    settings = {**sizes, "learning_rate": learning_rate, "seeds": seeds, "seed": seed}
    measures = summarized(network_curves(_words(seed), recipe, ("reward",), **settings))
    return measures | {"largest fall": largest_fall(measures["reward"])}


def _arm(recipe: Recipe, *rates: float) -> Arm:
    return tuned(reused, RATES._replace(values=rates, by="mean reward"), recipe=recipe)


EXPERIMENT = Experiment(
    name="sequence_ratio_network",
    title="Is GSPO's sequence ratio better than the ratios of tokens, with a network?",
    policy="network",
    beside="sequence_ratio",
    group="clipping",
    claim="When a batch is used for several steps, GSPO's ratio of the sequence is better and more stable"
    " than GRPO's ratios of the tokens, where a pretrained network spells all words with the same weights.",
    source="Zheng et al. 2025, GSPO (arXiv:2507.18071); a book chapter on GRPO (2026, not public), sec."
    " 7.5.3",
    family=f"{FAMILY} Words, luck and passes are the table's, batches are always of {PROMPTS} x {GROUP}."
    " A small transformer reads the number of the word and all letters so far; it first imitates 4096"
    " words of the table's reference, and all words share its weights.",
    run=f"{UPDATES} batches of {PROMPTS} x {GROUP} words are learned with Adam and without a KL penalty, each"
    " used for 2 to 16 steps. GSPO has the clip range of its paper, and in one arm GRPO's of 0.2.",
    measured="The reward (share of right words) as a mean over training, by which the learning rate is"
    " chosen, and its largest fall below its best so far (means of 5 updates).",
    arms={
        "GRPO": _arm(TOKEN, 0.003, 0.01, 0.03),
        "GSPO": _arm(SEQUENCE, 0.003, 0.01, 0.03),
        "GSPO clipped at 0.2": _arm(WIDE, 0.001, 0.003, 0.01),
    },
    predictions=(
        Prediction(
            "Used several times, GSPO gains more reward",
            "mean reward",
            "GSPO",
            "more",
            "GRPO",
            0.02,
            main=True,
        ),
        Prediction(
            "Used several times, GSPO falls less", "largest fall", "GSPO", "less", "GRPO", 0.02, main=True
        ),
        Prediction(
            "GSPO clipped at 0.2 gains more than GRPO",
            "mean reward",
            "GSPO clipped at 0.2",
            "more",
            "GRPO",
            0.02,
        ),
    ),
    panels=(
        Curves("reward", "right words (share)"),
        Grid("reward, mean of all updates"),
    ),
)
