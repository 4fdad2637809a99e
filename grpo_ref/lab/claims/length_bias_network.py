"""Claim: dividing the loss of each completion by its length makes a network's wrong answers grow longer."""

from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.aggregation import token_mean
from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    tuned,
)
from grpo_ref.lab.framework.network import RATES, TRANSFORMER, Started, imitator
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.task import END, Task
from grpo_ref.recipes import DR_GRPO, GRPO, Recipe, slot
from grpo_ref.training import iter_train

COPIES = 20
"""Number of prompts per question, which look the same to the policy."""
UPDATES, EVERY, PROMPTS, GROUP = 70, 7, 8, 8
"""Batches; number of updates between two looks at the policy; prompts of a batch; completions of a prompt."""
FILLER = 0
"""After the answer, the token that says nothing and ends nothing."""


class Drawn(NamedTuple):
    """A sampled task.

    Attributes:
      start: task and network.
      asked: (questions, V) the fraction of a question's prompts that have each answer as their label.
    """

    start: Started
    asked: Floats


@cache
def drawn(seed: int) -> Drawn:
    """Sample a task, and pretrain its network.

    The first token is the answer. Then follow filler tokens, on which no reward depends.
    """
    generator = np.random.default_rng([seed, 0, 2])
    questions, answers = int(generator.integers(4, 17)), int(generator.integers(4, 9))
    budget, filler = int(generator.integers(8, 17)), generator.uniform(0.6, 0.9)
    known = np.exp(generator.uniform(np.log(0.05), np.log(0.5), questions))
    right, rows = generator.integers(answers, size=questions), np.arange(questions)
    ref_logits = np.zeros((questions + 1, answers))
    others = np.exp(ref_logits[:questions]).sum(-1) - 1.0
    ref_logits[rows, right] = np.log(known / (1.0 - known) * others)
    ref_logits[questions, FILLER] = np.log((answers - 1) * filler / (1.0 - filler))
    transitions = np.full((questions + 1, answers), END)
    transitions[:questions], transitions[questions, FILLER] = questions, questions
    own = np.repeat(rows, COPIES)
    is_wrong = generator.random(len(own)) < generator.uniform(0.0, 0.3)
    labels = np.where(is_wrong, generator.integers(answers, size=len(own)), right[own])
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
    )
    numbers = np.stack([own // answers, own % answers], axis=-1)
    start = imitator(task, numbers, seed=seed, steps=150)
    return Drawn(start, (labels.reshape(questions, COPIES, 1) == np.arange(answers)).mean(1))


def _judge(labels: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    correct: Floats = (tokens[..., 0] == labels[prompts][..., None])[..., None].astype(np.float64)
    return correct


def lengths(*, recipe: Recipe, learning_rate: float, seeds: int, seed: int) -> Measures:
    """Train on a sampled task, and compute how much longer right and wrong completions get."""
    one = drawn(seed)
    task, policy = one.start
    sizes: dict[str, Any] = {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP}
    config = config_for(task, TRANSFORMER, **sizes, learning_rate=learning_rate, seeds=seeds, seed=seed)
    correct, looks = [], []
    for metrics, state in iter_train(task, recipe, config, metrics=("correct",), policy=policy):
        correct.append(metrics["correct"])
        if state.update % EVERY == 0:
            looks.append(expected_lengths(one, state.params))
    begun = expected_lengths(one, policy.weights[None])[0]
    of_right, of_wrong = np.log(np.stack(looks, axis=-1) / begun[:, None]).swapaxes(0, 1)
    apart = {
        "growth of right": of_right,
        "growth of wrong": of_wrong,
        "wrong over right": of_wrong - of_right,
    }
    return summarized({"correct": np.stack(correct, axis=-1), **apart})


def expected_lengths(drawn: Drawn, weights: Floats) -> Floats:
    """Return (S, 2) the expected number of tokens of a right and of a wrong completion, up to the budget.

    Token k + 2 is written if the k tokens between the answer and it were filler.
    """
    (task, policy), asked = drawn
    (questions, answers), runs, budget = asked.shape, len(weights), task.max_length
    prompts = np.broadcast_to(np.arange(questions) * COPIES, (runs, questions))
    tokens = np.full((runs, questions, answers, budget), FILLER)
    tokens[..., 0] = np.arange(answers)
    probs = policy.at(weights, 1.0).visit(task, prompts, tokens, tokens).policy.probs
    by_place = probs.reshape(*tokens.shape, -1)
    length = 2.0 + by_place[..., 1:-1, FILLER].cumprod(-1).sum(-1)
    chance = by_place[:, :, 0, 0] * np.stack([asked, 1.0 - asked])[:, None]
    expected: Floats = ((chance * length).sum((-2, -1)) / chance.sum((-2, -1))).T
    return expected


NO_KL = replace(GRPO, kl_coef=0.0)
GRPO_ARM, TOKEN_ARM, CONSTANT_ARM = "sequence mean, std (GRPO)", "token mean, std", "constant (Dr. GRPO)"
MARGIN = 0.1
"""A tenth of the length, nearly."""
LOOKS = tuple(range(EVERY, UPDATES + 1, EVERY))


def _arm(recipe: Recipe) -> Arm:
    return tuned(lengths, RATES._replace(values=(0.001, 0.003, 0.01)), recipe=recipe)


EXPERIMENT = Experiment(
    name="length_bias_network",
    title="Does GRPO make wrong answers longer (length bias), with a network?",
    policy="network",
    beside="length_bias",
    group="aggregation",
    claim="Dividing the loss of each completion by its length makes wrong answers grow longer and right ones"
    " shorter, and a constant divisor does neither, where a pretrained network has to sense itself which of"
    " its answers are wrong.",
    source="Liu et al. 2025, Dr. GRPO, sec. 3.1 (arXiv:2503.20783); Yu et al. 2025, DAPO, sec. 3.3"
    " (arXiv:2503.14476), for the token mean",
    family="4 to 16 questions with 4 to 8 answers, the right one given at first in 5 to 50 % of completions,"
    " and up to 30 % of the labels at random. After the answer comes filler, 60 to 90 % of tokens at first,"
    " on which no reward depends, up to a budget of 8 to 16 tokens. A small transformer reads the number"
    " of the question, the answer and the filler so far; it first imitates 4096 such completions, in which"
    " filler does not depend on the answer.",
    run=f"There are {UPDATES} updates of {PROMPTS} x {GROUP} completions with Adam and without a KL penalty."
    " The loss is averaged over each completion (“sequence mean”, as in GRPO), over all tokens of the batch"
    " (“token mean”), or divided by a constant (Dr. GRPO). “std” means that advantages are divided by the"
    " standard deviation.",
    measured="Growth: the logarithm of the expected length of right and of wrong completions, by their"
    f" labels, over that at the start, computed from the policy after every {EVERY} updates, as a mean over"
    " the last fifth of the training. A growth of -0.7 means half as long. The learning rate is chosen by"
    " the share of right completions over the same updates.",
    arms={
        GRPO_ARM: _arm(NO_KL),
        TOKEN_ARM: _arm(replace(NO_KL, aggregate=slot(token_mean))),
        CONSTANT_ARM: _arm(DR_GRPO),
    },
    predictions=(
        Prediction(
            "Wrong answers grow longer under GRPO",
            "final growth of wrong",
            GRPO_ARM,
            "more",
            CONSTANT_ARM,
            MARGIN,
            main=True,
        ),
        Prediction(
            "Right answers grow shorter under GRPO",
            "final growth of right",
            GRPO_ARM,
            "less",
            CONSTANT_ARM,
            MARGIN,
            main=True,
        ),
        Prediction(
            "Wrong answers grow against right ones more under GRPO",
            "final wrong over right",
            GRPO_ARM,
            "more",
            CONSTANT_ARM,
            MARGIN,
        ),
        Prediction(
            "Under Dr. GRPO wrong answers keep their length",
            "final growth of wrong",
            CONSTANT_ARM,
            "same",
            0.0,
            MARGIN,
        ),
        Prediction(
            "With the token mean they are as long as under Dr. GRPO",
            "final growth of wrong",
            TOKEN_ARM,
            "same",
            CONSTANT_ARM,
            MARGIN,
        ),
    ),
    panels=(
        Curves("growth of wrong", "growth of wrong completions (log of length)", x=LOOKS),
        Curves("wrong over right", "growth of wrong minus right completions", x=LOOKS),
        Grid("right completions at the end (share)"),
    ),
)
