"""Wrong answers to `clinic/large_groups`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.advantages import raw_rewards
from grpo_ref.aggregation import token_sum
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.bandits import on_bandits
from grpo_ref.learning.policies.table import scatter_add


def _everything_lost(gradient, states, tokens, probs):
    """Add the whole step by an index assignment, which counts only the last visit of each row."""
    table = np.zeros_like(probs)
    table[states] += gradient[..., None] * (np.eye(probs.shape[-1])[tokens] - probs[states])
    return table


def _divided_by_visits(gradient, states, tokens, probs):
    summed = RIGHT.back(gradient, states, tokens, probs)
    visits = scatter_add(np.ones_like(gradient), states, tokens, probs.shape)
    return summed / np.maximum(visits, 1.0)


WRONG = (
    as_given(
        on_bandits(replace(RIGHT, back=_everything_lost)),
        "Only the last member of each prompt still counts.",
    ),
    Mutant(
        "half mended",
        on_bandits(replace(RIGHT, back=stages.repeats_lost)),
        "The chosen arms are still written once each.",
    ),
    Mutant(
        "divided by the visits",
        on_bandits(replace(RIGHT, back=_divided_by_visits)),
        "The visits are to be added, not averaged.",
    ),
    Mutant(
        "sum for mean",
        on_bandits(replace(RIGHT, weight=token_sum)),
        "The mean over prompts and members was right; it is a sum now.",
    ),
    Mutant(
        "downhill",
        on_bandits(replace(RIGHT, direction=-1.0)),
        "The sign was right; it is turned over now.",
    ),
    Mutant(
        "no baseline",
        on_bandits(replace(RIGHT, advantage=raw_rewards)),
        "The baseline was right; it is gone now.",
    ),
)
