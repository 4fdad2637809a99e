"""Claim: dividing the loss of each completion by its length makes wrong answers grow longer."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.aggregation import token_mean
from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Expectation,
    Experiment,
    Grid,
    Measures,
    Points,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.lab.framework.tasks.answer_and_talk import answer_and_talk, expected_lengths
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.recipes import DR_GRPO, GRPO, Recipe, slot


def lengths(
    *,
    recipe: Recipe,
    learning_rate: float,
    seeds: int,
    seed: int,
    sense: float | None = None,
    luck: bool = True,
) -> Measures:
    """Train on a drawn task; how much longer right and wrong completions get is known exactly."""
    task, asked, sure = answer_and_talk(seed, sense=sense, luck=luck)
    mistaken = asked < asked.max(-1, keepdims=True)
    among = np.stack([asked, 1.0 - asked, mistaken])

    def expected(logits: Floats) -> Floats:
        return expected_lengths(logits, among, sure, task.max_length)

    config = config_for(task, updates=UPDATES, seeds=seeds, seed=seed, learning_rate=learning_rate)
    found = curves(task, recipe, config, ("correct",), lengths=lambda state: expected(state.params))
    growth = np.log(found["lengths"] / expected(task.ref_logits)[:, None])
    names = {
        f"growth of {name}": growth[:, place] for place, name in enumerate(("right", "wrong", "mistaken"))
    }
    return summarized({"correct": found["correct"], **names})


UPDATES = 200
NO_KL = replace(GRPO, kl_coef=0.0)
SEQUENCE_MEAN = replace(DR_GRPO, aggregate=GRPO.aggregate)
GRPO_ARM, MEAN_ARM = "sequence mean, std (GRPO)", "sequence mean"
TOKEN_ARM, CONSTANT_ARM = "token mean, std", "constant (Dr. GRPO)"
MARGIN = 0.1
"""A tenth of the length, nearly."""
SENSES = {"never tells": 0.0, "tells half": 0.5, "always tells": 1.0}
SERIES: Mapping[str, Mapping[str, Any]] = {
    "GRPO": {"recipe": NO_KL},
    "GRPO, right labels": {"recipe": NO_KL, "luck": False},
    "Dr. GRPO": {"recipe": DR_GRPO},
}


def _arm(recipe: Recipe, **settings: Any) -> Arm:
    rates = Tuning("learning_rate", (0.03, 0.1, 0.3, 1.0, 3.0), by="final correct")
    return tuned(lengths, rates, recipe=recipe, **settings)


def _of_wrong(
    says: str, left: str, expect: Expectation, right: str | float, main: bool = False
) -> Prediction:
    return Prediction(says, "final growth of wrong", left, expect, right, MARGIN, main)


EXPERIMENT = Experiment(
    name="length_bias",
    title="Does GRPO make wrong answers longer (length bias)?",
    group="aggregation",
    claim="Dividing the loss of each completion by its length makes wrong answers grow longer, since a long"
    " one is punished less per token, and right ones shorter; a constant divisor does neither.",
    source="Liu et al. 2025, Dr. GRPO, sec. 3.1 (arXiv:2503.20783); Yu et al. 2025, DAPO, sec. 3.3"
    " (arXiv:2503.14476), for the token mean",
    family="4 to 16 questions with 3 to 8 answers, the right one given at first in 5 to 50 % of"
    " completions, and up to 30 % of the labels at random. After the answer comes filler, 60 to 90 % of"
    " tokens at first, on which no reward depends, up to a budget of 8 to 20 tokens. Each question has two"
    " states for it: for a share of the answers, drawn from 0 to 1, the state tells whether the answer was"
    " right, and for the others it tells nothing.",
    run=f"There are {UPDATES} updates of 16 x 8 completions with Adam and without a KL penalty. The loss is"
    " averaged over each completion (“sequence mean”, as in GRPO), over all tokens of the batch (“token"
    " mean”), or divided by a constant (Dr. GRPO). “std” means that advantages are divided by the standard"
    " deviation. GRPO and Dr. GRPO are also run in tasks where the state after the answer never, always, or"
    " for half of the answers shows whether the answer was right (“never tells”, “always tells”, “tells"
    " half”). GRPO is run there without wrong labels as well (“right labels”).",
    measured="Growth: the logarithm of the expected length of completions over that at the start, computed"
    " from the policy for the completions of all questions together, as a mean over the last fifth of the"
    " updates. A growth of -0.7 means half as long."
    " It is computed for right and for wrong completions, by their labels, and for mistaken answers, which"
    " are those that most labels of the question call wrong. The learning rate is chosen by the share of"
    " right completions over the same updates.",
    arms={
        GRPO_ARM: _arm(NO_KL),
        MEAN_ARM: _arm(SEQUENCE_MEAN),
        TOKEN_ARM: _arm(replace(NO_KL, aggregate=slot(token_mean))),
        CONSTANT_ARM: _arm(DR_GRPO),
    }
    | {
        f"{series}, {name}": _arm(**settings, sense=sense)
        for series, settings in SERIES.items()
        for name, sense in SENSES.items()
    },
    predictions=(
        _of_wrong("Wrong answers grow longer under GRPO", GRPO_ARM, "more", CONSTANT_ARM, main=True),
        Prediction(
            "Right answers grow shorter under GRPO",
            "final growth of right",
            GRPO_ARM,
            "less",
            CONSTANT_ARM,
            MARGIN,
            main=True,
        ),
        _of_wrong("Under Dr. GRPO wrong answers keep their length", CONSTANT_ARM, "same", 0.0),
        _of_wrong("With the token mean they are as long as under Dr. GRPO", TOKEN_ARM, "same", CONSTANT_ARM),
        _of_wrong("The standard deviation is not the cause", MEAN_ARM, "same", GRPO_ARM),
        _of_wrong(
            "Control: in a single state, which cannot tell, they do not grow more under GRPO",
            "GRPO, never tells",
            "same",
            "Dr. GRPO, never tells",
        ),
        Prediction(
            "Answers that are mistaken, whatever the label says, grow longer under GRPO",
            "final growth of mistaken",
            GRPO_ARM,
            "more",
            CONSTANT_ARM,
            MARGIN,
        ),
        _of_wrong(
            "Where all labels are right and half of the states tell, they grow longer under GRPO",
            "GRPO, right labels, tells half",
            "more",
            0.0,
        ),
    ),
    panels=(
        Points(
            "final growth of wrong",
            "growth of wrong completions (log of length)",
            x={series: {f"{series}, {name}": sense for name, sense in SENSES.items()} for series in SERIES},
            xlabel="how often the state tells right from wrong",
        ),
        Curves(
            "growth of wrong",
            "growth of wrong completions (log of length)",
            arms=(GRPO_ARM, MEAN_ARM, TOKEN_ARM, CONSTANT_ARM),
        ),
        Grid("right completions at the end (share)", arms=(GRPO_ARM, MEAN_ARM, TOKEN_ARM, CONSTANT_ARM)),
    ),
)
