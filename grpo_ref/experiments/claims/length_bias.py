"""Claim: dividing the loss of each completion by its length makes wrong answers grow longer."""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.experiments.framework.experiment import Curves, Experiment, Measures, Prediction, arm
from grpo_ref.experiments.framework.training import curves, summarized
from grpo_ref.kernels.aggregation import token_mean
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.tasks.task import END, Task
from grpo_ref.recipes import DR_GRPO, GRPO, Recipe, slot

ANSWERS, BUDGET, UPDATES = 4, 12, 100
FILLER = 0
"""After the answer, the token that says nothing and ends nothing."""
FILLER_SHARE = 0.75
"""How often the filler is written at first: completions are about five tokens long then."""
RIGHT, WRONG = ANSWERS, ANSWERS + 1
"""The states after a right and after a wrong answer."""


def answer_and_talk() -> Task:
    """Each prompt has one right answer, the first token; then filler for as long as the policy likes.

    After the answer there are two states, one for a right and one for a wrong answer, since a policy may
    sense which it is. The filler keeps the state, every other token ends the completion, and neither changes
    the reward.
    """
    prompts = np.arange(ANSWERS)
    transitions = np.full((ANSWERS + 2, ANSWERS), END)
    transitions[:ANSWERS] = WRONG
    transitions[prompts, prompts] = RIGHT
    transitions[[RIGHT, WRONG], FILLER] = RIGHT, WRONG
    ref_logits = np.zeros((ANSWERS + 2, ANSWERS))
    ref_logits[ANSWERS:, FILLER] = np.log((ANSWERS - 1) * FILLER_SHARE / (1.0 - FILLER_SHARE))
    return Task(
        name="answer_and_talk",
        vocabulary=tuple("abcd"),
        transitions=transitions,
        prompts=tuple(f"{answer}?" for answer in "abcd"),
        starts=prompts,
        prompt_probs=np.full(ANSWERS, 1.0 / ANSWERS),
        max_length=BUDGET,
        ref_logits=ref_logits,
        verify=_judge,
        criteria=("correct",),
        weights=np.ones(1),
        settings={"updates": UPDATES, "prompts": 16, "group_size": 8, "learning_rate": 0.03},
    )


def _judge(prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    correct: Floats = (tokens[..., 0] == prompts[..., None])[..., None].astype(np.float64)
    return correct


def lengths(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """Train, and follow the expected lengths of right and of wrong completions, which are known exactly."""
    task = answer_and_talk()
    start = _expected_lengths(task.ref_logits)
    config = config_for(task, seeds=seeds, seed=seed)
    found = curves(task, recipe, config, ("reward",), lengths=lambda state: _expected_lengths(state.params))
    right, wrong = np.moveaxis(found["lengths"], 1, 0)
    weights = _weights_by_length(recipe)
    half = weights[BUDGET - 1] / BUDGET / (weights[BUDGET // 2 - 1] / (BUDGET // 2))
    return summarized({"right length": right, "wrong length": wrong, "reward": found["reward"]}) | {
        "growth of right": right[:, -1] - start[0],
        "growth of wrong": wrong[:, -1] - start[1],
        "weight of a token": np.full(seeds, half),
        "weight by length": np.tile(weights, (seeds, 1)),
    }


def _expected_lengths(logits: Floats) -> Floats:
    """(..., 2) tokens of a right and of a wrong completion: the answer, and filler until the budget ends it.

    Token k + 2 is written if the k tokens between the answer and it were filler.
    """
    filler = policy_of(logits[..., [RIGHT, WRONG], :]).probs[..., FILLER]
    expected: Floats = 1.0 + (filler[..., None] ** np.arange(BUDGET - 1)).sum(-1)
    return expected


def _weights_by_length(recipe: Recipe) -> Floats:
    """(T,) weight of a whole completion of each length, in a group that has all lengths; their mean is 1."""
    weights = recipe.weights(np.tri(BUDGET)[None], max_length=BUDGET).sum((0, -1))
    relative: Floats = weights / weights.mean()
    return relative


NO_KL = replace(GRPO, kl_coef=0.0)
GRPO_ARM, MEAN_ARM = "sequence mean, std (GRPO)", "sequence mean"
TOKEN_ARM, CONSTANT_ARM = "token mean, std", "constant (Dr. GRPO)"

EXPERIMENT = Experiment(
    name="length_bias",
    group="aggregation",
    claim="Dividing the loss of each completion by its length makes wrong answers grow longer, since a long"
    " one is punished less per token, and right ones shorter; a constant divisor does neither.",
    source="Liu et al. 2025, Dr. GRPO, sec. 3.1 (arXiv:2503.20783); Yu et al. 2025, DAPO, sec. 3.3"
    " (arXiv:2503.14476), for the token mean",
    run=f"One of {ANSWERS} answers to each prompt is right; after it comes filler, on which the reward does"
    f" not depend, up to a budget of {BUDGET} tokens. The policy knows whether its answer was right while it"
    f" writes filler. There are {UPDATES} updates without a KL penalty, with the sequence mean with and"
    " without the division by the standard deviation, with the token mean with that division, and with Dr."
    " GRPO.",
    measured="The expected length of right and of wrong completions in tokens, computed exactly from the"
    " policy: its change from the reference to the last update. The weight of a token is that in a"
    f" completion of {BUDGET} tokens relative to that in a completion of {BUDGET // 2}.",
    arms={
        GRPO_ARM: arm(lengths, recipe=NO_KL),
        MEAN_ARM: arm(lengths, recipe=replace(DR_GRPO, aggregate=GRPO.aggregate)),
        TOKEN_ARM: arm(lengths, recipe=replace(NO_KL, aggregate=slot(token_mean))),
        CONSTANT_ARM: arm(lengths, recipe=DR_GRPO),
    },
    predictions=(
        Prediction(
            "Under GRPO a token weighs half as much in a completion that is twice as long",
            "weight of a token",
            GRPO_ARM,
            "same",
            0.5,
            0.01,
        ),
        Prediction("Wrong answers grow longer under GRPO", "growth of wrong", GRPO_ARM, "more", 0.0, 1.0),
        Prediction("Right answers grow shorter under GRPO", "growth of right", GRPO_ARM, "less", 0.0, 1.0),
        Prediction(
            "The standard deviation is not the cause: wrong answers grow longer without it",
            "growth of wrong",
            MEAN_ARM,
            "more",
            0.0,
            1.0,
        ),
        Prediction(
            "Wrong answers do not grow with the token mean", "growth of wrong", TOKEN_ARM, "same", 0.0, 1.0
        ),
        Prediction(
            "Wrong answers do not grow under Dr. GRPO", "growth of wrong", CONSTANT_ARM, "same", 0.0, 1.0
        ),
    ),
    panels=(
        Curves(
            "weight by length",
            "weight of a completion\n(mean weight = 1)",
            xlabel="length of the completion (tokens)",
        ),
        Curves("wrong length", "expected length of a wrong completion (tokens)"),
    ),
    remark="With the token mean, as with a constant divisor, a completion weighs in proportion to its"
    " length. The book chapter (sec. 7.5.2) says of the token mean that it keeps long completions from"
    " dominating because they have more tokens; it is the sequence mean that does so.",
    chosen="Budget, batch and learning rate were changed after trial runs in which the token mean was close"
    " to its margin.",
)
