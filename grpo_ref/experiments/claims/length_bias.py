"""Claim: dividing the loss of each completion by its length makes wrong answers grow longer."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.experiments.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Points,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.experiments.framework.training import curves, summarized
from grpo_ref.kernels.aggregation import token_mean
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.tasks.task import END, Task
from grpo_ref.recipes import DR_GRPO, GRPO, Recipe, slot

COPIES, UPDATES = 20, 80
"""Prompts of each question, which the policy cannot tell apart; and batches."""
FILLER = 0
"""After the answer, the token that says nothing and ends nothing."""
SURE, UNSURE = -2, -1
"""The two states in which filler is written, the last ones."""


def answer_and_talk(seed: int, *, sense: float | None = None) -> tuple[Task, Floats, Floats]:
    """An answer, the first token; then filler for as long as the policy likes, on which no reward depends.

    Filler is written in one of two states. To each answer to each question belongs one of them: with a chance
    of `sense` the one that tells whether the answer is right, else either one.

    Args:
      seed: of the task.
      sense: how often the state tells; None to draw it, 0 for a single state.

    Returns:
      The task; how many of a question's prompts have each answer for their label, (questions, V) as a share;
      and the state of each answer, 1 where it is SURE.
    """
    generator = np.random.default_rng([seed, 0, 1])
    questions, answers = int(generator.integers(4, 17)), int(generator.integers(3, 9))
    budget, filler = int(generator.integers(8, 21)), generator.uniform(0.6, 0.9)
    known = np.exp(generator.uniform(np.log(0.05), np.log(0.5), questions))
    luck, drawn = generator.uniform(0.0, 0.3), generator.uniform()
    tells = generator.random((questions, answers)) < (drawn if sense is None else sense)
    guess = (generator.random((questions, answers)) < 0.5) & (sense != 0.0)
    right = generator.integers(answers, size=questions)
    is_right = np.arange(answers) == right[:, None]
    sure = np.where(tells, is_right, guess)
    ref_logits = np.zeros((questions + 2, answers))
    ref_logits[:questions] = generator.normal(size=(questions, answers))
    others = np.where(is_right, 0.0, np.exp(ref_logits[:questions])).sum(-1)
    ref_logits[np.arange(questions), right] = np.log(known / (1.0 - known) * others)
    ref_logits[[SURE, UNSURE], FILLER] = np.log((answers - 1) * filler / (1.0 - filler))
    transitions = np.full((questions + 2, answers), END)
    transitions[:questions] = questions + np.where(sure, 0, 1)
    transitions[[SURE, UNSURE], FILLER] = questions, questions + 1
    own = np.repeat(np.arange(questions), COPIES)
    labels = np.where(
        generator.random(len(own)) < luck, generator.integers(answers, size=len(own)), right[own]
    )
    task = Task(
        name="answer_and_talk",
        vocabulary=tuple("abcdefgh"[:answers]),
        transitions=transitions,
        prompts=tuple(f"{question}?" for question in own),
        starts=own,
        prompt_probs=np.full(len(own), 1.0 / len(own)),
        max_length=budget,
        ref_logits=ref_logits,
        verify=partial(_judge, labels),
        criteria=("correct",),
        weights=np.ones(1),
        settings={"updates": UPDATES, "prompts": 16, "group_size": 8},
    )
    asked = (labels.reshape(questions, COPIES, 1) == np.arange(answers)).mean(1)
    return task, asked, sure.astype(np.float64)


def _judge(labels: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    correct: Floats = (tokens[..., 0] == labels[prompts][..., None])[..., None].astype(np.float64)
    return correct


def lengths(
    *, recipe: Recipe, learning_rate: float, seeds: int, seed: int, sense: float | None = None
) -> Measures:
    """Train on a drawn task; how much longer right and wrong completions get is known exactly."""
    task, asked, sure = answer_and_talk(seed, sense=sense)

    def expected(logits: Floats) -> Floats:
        return _expected_lengths(logits, asked, sure, task.max_length)

    config = config_for(task, seeds=seeds, seed=seed, learning_rate=learning_rate)
    found = curves(task, recipe, config, ("correct",), lengths=lambda state: expected(state.params))
    growth = np.moveaxis(found["lengths"], 1, 0) / expected(task.ref_logits)[:, None, None] - 1.0
    return summarized(
        {"correct": found["correct"], "growth of right": growth[0], "growth of wrong": growth[1]}
    )


def _expected_lengths(logits: Floats, asked: Floats, sure: Floats, budget: int) -> Floats:
    """(..., 2) tokens of a right and of a wrong completion: the answer, and filler until the budget ends it.

    Token k + 2 is written if the k tokens between the answer and it were filler.
    """
    probs = policy_of(logits).probs
    filler = probs[..., [SURE, UNSURE], FILLER]
    of_state = 1.0 + (filler[..., None] ** np.arange(budget - 1)).sum(-1)
    length = np.where(sure, of_state[..., :1, None], of_state[..., 1:, None])
    chance = probs[..., : len(asked), :] * np.stack([asked, 1.0 - asked])[:, *(None,) * (logits.ndim - 2)]
    expected = (chance * length).sum((-2, -1)) / chance.sum((-2, -1))
    return np.moveaxis(expected, 0, -1)


NO_KL = replace(GRPO, kl_coef=0.0)
SEQUENCE_MEAN = replace(DR_GRPO, aggregate=GRPO.aggregate)
GRPO_ARM, MEAN_ARM = "sequence mean, std (GRPO)", "sequence mean"
TOKEN_ARM, CONSTANT_ARM = "token mean, std", "constant (Dr. GRPO)"
MARGIN = 0.1
"""A tenth of the length."""
SENSES = {"blind": 0.0, "half": 0.5, "all-knowing": 1.0}


def _arm(recipe: Recipe, **settings: Any) -> Arm:
    rates = Tuning("learning_rate", (0.01, 0.03, 0.1, 0.3, 1.0), by="mean correct")
    return tuned(lengths, rates, recipe=recipe, **settings)


def _of_wrong(says: str, left: str, expect: Any, right: str | float, *, main: bool = False) -> Prediction:
    return Prediction(says, "final growth of wrong", left, expect, right, MARGIN, main)


EXPERIMENT = Experiment(
    name="length_bias",
    group="aggregation",
    claim="Dividing the loss of each completion by its length makes wrong answers grow longer, since a long"
    " one is punished less per token, and right ones shorter; a constant divisor does neither.",
    source="Liu et al. 2025, Dr. GRPO, sec. 3.1 (arXiv:2503.20783); Yu et al. 2025, DAPO, sec. 3.3"
    " (arXiv:2503.14476), for the token mean",
    family="4 to 16 questions with 3 to 8 answers, the right one given at first in 5 to 50 % of completions,"
    " up to 30 % of the labels at random. After the answer comes filler, 60 to 90 % of tokens at first, on"
    " which no reward depends, up to a budget of 8 to 20 tokens. The policy writes it in one of two states;"
    " for a share of the answers, drawn from 0 to 1, the state tells whether the answer was right, and for"
    " the others it tells nothing.",
    run=f"There are {UPDATES} updates of 16 x 8 completions with Adam and without a KL penalty: with the"
    " sequence mean with and without the division by the standard deviation, with the token mean with that"
    " division, and with Dr. GRPO. GRPO and Dr. GRPO are also run with that share at 0 (a single state), at"
    " 1/2 and at 1.",
    measured="How much longer right and wrong completions (by their labels) have become, relative to the"
    " start: expected lengths, computed from the policy, as a mean over the last fifth of the updates. The"
    " learning rate is chosen by the share of right completions, as a mean over the training.",
    arms={
        GRPO_ARM: _arm(NO_KL),
        MEAN_ARM: _arm(SEQUENCE_MEAN),
        TOKEN_ARM: _arm(replace(NO_KL, aggregate=slot(token_mean))),
        CONSTANT_ARM: _arm(DR_GRPO),
    }
    | {f"GRPO, {name}": _arm(NO_KL, sense=sense) for name, sense in SENSES.items()}
    | {f"Dr. GRPO, {name}": _arm(DR_GRPO, sense=sense) for name, sense in SENSES.items()},
    predictions=(
        _of_wrong("Wrong answers grow longer under GRPO", GRPO_ARM, "more", 0.0, main=True),
        _of_wrong("They do not under Dr. GRPO", CONSTANT_ARM, "same", 0.0, main=True),
        Prediction(
            "Right answers grow shorter under GRPO", "final growth of right", GRPO_ARM, "less", 0.0, MARGIN
        ),
        _of_wrong(
            "The standard deviation is not the cause: wrong answers grow longer without it",
            MEAN_ARM,
            "more",
            0.0,
        ),
        _of_wrong("Wrong answers do not grow with the token mean", TOKEN_ARM, "same", 0.0),
        _of_wrong(
            "Control: in a single state, which cannot tell right from wrong, they do not grow under GRPO",
            "GRPO, blind",
            "same",
            0.0,
        ),
        _of_wrong(
            "The more the state tells, the more they grow under GRPO",
            "GRPO, all-knowing",
            "more",
            "GRPO, half",
        ),
    ),
    panels=(
        Points(
            "final growth of wrong",
            "growth of wrong completions\n(share of the length at first)",
            x={
                recipe: {f"{recipe}, {name}": sense for name, sense in SENSES.items()}
                for recipe in ("GRPO", "Dr. GRPO")
            },
            xlabel="how often the state tells right from wrong",
        ),
        Curves(
            "growth of wrong",
            "growth of wrong completions\n(share of the length at first)",
            arms=(GRPO_ARM, MEAN_ARM, TOKEN_ARM, CONSTANT_ARM),
        ),
        Grid("right completions (mean over updates)", arms=(GRPO_ARM, MEAN_ARM, TOKEN_ARM, CONSTANT_ARM)),
    ),
    remark="",
    chosen="",
)
