"""Claim: one ratio per sequence (GSPO) is better than one per token (GRPO), for a network as well."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Measures,
    Points,
    Prediction,
    arm,
    tuned,
)
from grpo_ref.lab.framework.network import RATES, Started, imitator, network_curves
from grpo_ref.lab.framework.reused_batches import WINDOW, largest_fall
from grpo_ref.lab.framework.tasks.spelling import spelling
from grpo_ref.lab.framework.training import summarized
from grpo_ref.recipes import GRPO, GSPO, Recipe, slot
from grpo_ref.surrogates import clipped

UPDATES, PROMPTS, GROUP, EPOCHS, PARTS = 20, 16, 4, 4, 2
"""Batches, prompts of each, completions per prompt, passes over a batch, and parts, with one step each."""
LETTERS = 3
TOO_FAST = 0.01
"""A learning rate that is three times as large as the best rate of GRPO."""
FALL = 0.2
"""A run has fallen if its reward was once this far below its best. Sampling alone moves the mean by 0.03."""
TOKEN = replace(GRPO, kl_coef=0.0)
SEQUENCE = replace(TOKEN, level=GSPO.level, surrogate=GSPO.surrogate)
WIDE = replace(SEQUENCE, surrogate=slot(clipped, clip_low=0.2, clip_high=0.2))


@cache
def words(seed: int) -> Started:
    """Sample a task of the family, and pretrain a network that reads the word's number and the letters."""
    generator = np.random.default_rng([seed, 3])
    length = int(generator.integers(5, 9))
    task = spelling(
        words=int(generator.integers(2, 7)),
        length=length,
        letters=LETTERS,
        unknown=float(generator.uniform(0.0, 0.3)),
        seed=seed,
    )
    word = task.starts // length
    return imitator(task, np.stack([word // LETTERS, word % LETTERS], axis=-1), seed=seed, steps=200)


def reused(*, recipe: Recipe, **config: Any) -> Measures:
    """Train a network on a sampled task with batches that are used for several steps."""
    sizes: dict[str, Any] = {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP}
    steps: dict[str, Any] = {"epochs": EPOCHS, "minibatches": PARTS}
    curves = network_curves(words(config["seed"]), recipe, ("reward",), **sizes, **steps, **config)
    measures = summarized(curves)
    fall = largest_fall(measures["reward"])
    return measures | {"largest fall": fall, "falls": (fall > FALL).astype(np.float64)}


def _best(recipe: Recipe, *rates: float) -> Arm:
    return tuned(reused, RATES._replace(values=rates, by="mean reward"), recipe=recipe)


def _fast(recipe: Recipe) -> Arm:
    return arm(reused, recipe=recipe, learning_rate=TOO_FAST)


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
    family=f"Two to six words of 5 to 8 letters, out of an alphabet of {LETTERS}, are spelled, and are right"
    " if half of the letters are. Up to 30 % of the letters are left to luck. A small transformer (one layer,"
    " width 32, two heads) reads the number of the word and all letters so far. It first imitates 4096 words"
    " of a random reference, of which about a third are right. All words share its weights.",
    run=f"{UPDATES} batches of {PROMPTS} x {GROUP} words are learned with Adam and without a KL penalty, with"
    f" {EPOCHS * PARTS} steps on each: {EPOCHS} passes over {PARTS} parts. GSPO has the clip range of its"
    " paper, and in one arm GRPO's of 0.2. In `too fast` both have a learning rate of"
    f" {TOO_FAST:g}, which is too large for GRPO.",
    measured="The reward (share of right words) as a mean over training, by which the learning rate is"
    f" chosen; its largest fall below its best so far (means of {WINDOW} updates); and the share of runs"
    f" whose largest fall is more than {FALL:g}, which a few extreme runs cannot dominate.",
    arms={
        "GRPO": _best(TOKEN, 0.001, 0.003, 0.01),
        "GSPO": _best(SEQUENCE, 0.003, 0.01, 0.03),
        "GSPO clipped at 0.2": _best(WIDE, 0.001, 0.003, 0.01),
        "GRPO, too fast": _fast(TOKEN),
        "GSPO, too fast": _fast(SEQUENCE),
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
            "Where the rate is too fast for GRPO, GSPO falls less",
            "largest fall",
            "GSPO, too fast",
            "less",
            "GRPO, too fast",
            0.02,
            main=True,
        ),
        Prediction(
            f"Where the rate is too fast for GRPO, fewer runs of GSPO fall by more than {FALL:g}",
            "falls",
            "GSPO, too fast",
            "less",
            "GRPO, too fast",
            0.05,
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
        Points("largest fall", "largest fall of the reward"),
    ),
)
