"""Claim: without pressure toward diversity a network gives ever fewer of several right answers."""

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.lab.framework.experiment import (
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.lab.framework.network import Started, imitator, network_curves
from grpo_ref.lab.framework.tasks.synonyms import (
    PROMPTS,
    VOCABULARY,
    modes,
    right_answers,
    synonyms,
)
from grpo_ref.lab.framework.training import summarized
from grpo_ref.recipes import GRPO, Recipe

UPDATES, TRIES = 80, 16
"""Batches, and samples in which different answers are counted."""


class Drawn(NamedTuple):
    """Task and network, the right answers (prompts, right, 2), and completions per prompt."""

    start: Started
    answers: Integers
    group_size: int


@cache
def drawn(seed: int) -> Drawn:
    """Prompts with several right answers, and a network that reads the prompt's number."""
    generator = np.random.default_rng([seed, 9])
    right, group_size = int(generator.integers(2, 7)), int(generator.choice([4, 8, 16]))
    task = synonyms(right=right, spread=generator.uniform(0.5, 2.5), seed=seed)
    numbers = np.stack(np.divmod(np.arange(PROMPTS), VOCABULARY), axis=-1)
    start = imitator(task, numbers, seed=seed)
    return Drawn(start, right_answers(right=right, seed=seed), group_size)


def log_probs(start: Started, weights: Floats) -> Floats:
    """(S, N, V) what the networks say in every state of `synonyms`."""
    task, policy = start
    shape = (len(weights), PROMPTS, VOCABULARY, 2)
    prompts = np.broadcast_to(np.arange(PROMPTS), shape[:2])
    tokens = np.zeros(shape, dtype=np.int64)
    tokens[..., 0] = np.arange(VOCABULARY)
    said = policy.at(weights, 1.0).visit(task, prompts, tokens, tokens).policy.log_probs
    by_place = said.reshape(*shape, VOCABULARY)
    both = np.concatenate([by_place[:, :, :1, 0], by_place[:, :, :, 1]], axis=2)
    return both.reshape(len(weights), -1, VOCABULARY)


def found_by(said: Floats, answers: Integers) -> tuple[Floats, Floats]:
    """Two (S,): the chance to be right, and the expected different right answers of `TRIES` samples."""
    roots = np.arange(PROMPTS)[:, None] * (1 + VOCABULARY)
    first, second = answers[..., 0], answers[..., 1]
    chance = np.exp(said[:, roots, first] + said[:, roots + 1 + first, second])
    return chance.sum(-1).mean(-1), (1.0 - (1.0 - chance) ** TRIES).sum(-1).mean(-1)


def collapsed(
    *,
    recipe: Recipe,
    weights: tuple[float, float, float] = (0.0, 0.0, 0.0),
    learning_rate: float | None = None,
    seeds: int,
    seed: int,
) -> Measures:
    """Train on a drawn task and count the right answers that are left, at temperature 1, exactly.

    Args:
      recipe: the algorithm.
      weights: the learning rate, the weight of the KL penalty and that of the entropy bonus.
      learning_rate: another learning rate.
      seeds, seed: number of runs; base of their random numbers and of the task.
    """
    start, answers, group_size = drawn(seed)
    rate, penalty, bonus = weights

    def counted(weights: Floats) -> Floats:
        said = log_probs(start, weights)
        return np.stack([modes(said, answers), *found_by(said, answers)], axis=-1)

    sizes: dict[str, Any] = {"updates": UPDATES, "prompts": PROMPTS, "group_size": group_size}
    sizes |= {"learning_rate": learning_rate or rate, "entropy_coef": bonus, "seeds": seeds, "seed": seed}
    measured = {"counted": lambda state: counted(state.params)}
    found = network_curves(start, replace(recipe, kl_coef=penalty), (), measured, **sizes)
    names = ("modes", "right", "different")
    curves = dict(zip(names, np.moveaxis(found["counted"], 1, 0), strict=True))
    begun = counted(start[1].weights[None])[0, 0]
    return summarized(curves) | {"modes lost": begun - curves["modes"][:, -1]}


BY = "final different"
RATES = Tuning("learning_rate", (0.0003, 0.001, 0.003, 0.01), by=BY)
BOTH = tuple(product((0.001, 0.003, 0.01), (0.3, 1.0, 3.0)))
PENALTIES = Tuning("weights", tuple((rate, weight, 0.0) for rate, weight in BOTH), by=BY)
BONUSES = Tuning("weights", tuple((rate, 0.0, weight) for rate, weight in BOTH), by=BY)
ANSWER, SHARE = 0.25, 0.05
"""The margins: a quarter of an answer, and a twentieth of all completions."""

EXPERIMENT = Experiment(
    name="collapse_network",
    title="Why does the policy collapse to few answers, with a network?",
    policy="network",
    beside="collapse",
    group="divergence",
    claim="Without diversity pressure RL collapses to a narrow set of answers of high reward, where a"
    " pretrained network answers all prompts with the same weights; the KL penalty is the primary remedy.",
    source="Cui et al. 2025, The entropy mechanism (arXiv:2505.22617), for the collapse; Liu et al. 2025,"
    " ProRL (arXiv:2505.24864), for the KL penalty as a remedy; a book chapter on GRPO (2026, not public),"
    " sec. 7.5.1, for the remedy",
    family=f"{PROMPTS} prompts have answers of two tokens out of {VOCABULARY}, 2 to 6 of the 64 right and"
    " equally good. How many, how sharp the table's reference is (a standard deviation of its logits of 0.5"
    " to 2.5) and the size of the groups (4, 8 or 16) are drawn. A small transformer reads the number of"
    " the prompt and first imitates 4096 answers of that reference.",
    run=f"GRPO learns for {UPDATES} updates of {PROMPTS} prompts with Adam: without pressure toward variety"
    " (“none”), with a KL penalty (k3) or with an entropy bonus. Learning rate and weights are chosen"
    " together, and are listed in the order rate, weight of the penalty, weight of the bonus.",
    measured="Of the policy at temperature 1, exactly: the number of right answers that are given, which is"
    " the exponential of the entropy among them (“modes”); how many fewer they are than at the start; the"
    f" share of right completions; and how many different right answers {TRIES} samples contain"
    " (“different”). Settings are chosen by the latter, because it rewards both being right and being"
    " varied.",
    arms={
        "none": tuned(collapsed, RATES, recipe=GRPO),
        "KL": tuned(collapsed, PENALTIES, recipe=GRPO),
        "bonus": tuned(collapsed, BONUSES, recipe=GRPO),
    },
    predictions=(
        Prediction(
            "Without pressure right answers are lost", "modes lost", "none", "more", 0.0, ANSWER, main=True
        ),
        Prediction(
            "A KL penalty keeps more of the right answers",
            "final modes",
            "KL",
            "more",
            "none",
            ANSWER,
            main=True,
        ),
        Prediction(
            "An entropy bonus keeps more of the right answers", "final modes", "bonus", "more", "none", ANSWER
        ),
        Prediction("With a KL penalty more right answers are found", BY, "KL", "more", "none", ANSWER),
        Prediction("With an entropy bonus more right answers are found", BY, "bonus", "more", "none", ANSWER),
        Prediction("The penalty is primary: it finds more than a bonus", BY, "KL", "more", "bonus", ANSWER),
        Prediction("The penalty costs no right completions", "final right", "KL", "same", "none", SHARE),
        Prediction("The bonus costs no right completions", "final right", "bonus", "same", "none", SHARE),
    ),
    panels=(
        Curves("modes", "right answers that are given"),
        Curves("right", "right completions (share)"),
        Grid(f"different right answers in {TRIES} samples", xlabel="learning rate", arms=("none",)),
    ),
)
