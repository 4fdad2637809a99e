"""Wrong answers to `clinic/large_groups`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.bandits import mistakes_on_bandits, on_bandits
from grpo_ref.learning.policies.table import scatter_add


def _last_pull(gradient, states, tokens, probs):
    """Add the whole step by an index assignment, which counts only the last visit of each row."""
    table = np.zeros_like(probs)
    table[states] += gradient[..., None] * (np.eye(probs.shape[-1])[tokens] - probs[states])
    return table


def _last_pull_for_all(gradient, states, tokens, probs):
    return _last_pull(gradient, states, tokens, probs) * states.shape[1]


def _chosen_arms_averaged(gradient, states, tokens, probs):
    summed = RIGHT.back(gradient, states, tokens, probs)
    visits = scatter_add(np.ones_like(gradient), states, tokens, probs.shape)
    return summed / np.maximum(visits, 1.0)


WRONG = (
    as_given(
        on_bandits(replace(RIGHT, back=_last_pull)),
        "Counts only the last pull of each prompt, as the given program does; every pull adds to the row.",
    ),
    Mutant(
        "one pull of each arm",
        on_bandits(replace(RIGHT, back=stages.repeats_lost)),
        "Counts an arm that several pulls of a prompt selected only once; every pull adds to the row.",
    ),
    Mutant(
        "the last pull G times",
        on_bandits(replace(RIGHT, back=_last_pull_for_all)),
        "Counts the last pull of each prompt G times; every pull adds its own step.",
    ),
    Mutant(
        "arms averaged",
        on_bandits(replace(RIGHT, back=_chosen_arms_averaged)),
        "Divides the sum of each arm by the number of its pulls; J divides by P G once.",
    ),
    Mutant(
        "divided by G twice",
        on_bandits(replace(RIGHT, weight=lambda mask: mask / mask.sum() / mask.shape[1])),
        "Divides by the group size once more; `step` is already divided by P G.",
    ),
    *mistakes_on_bandits(on_bandits),
)
