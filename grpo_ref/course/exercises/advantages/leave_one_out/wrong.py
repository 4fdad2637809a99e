"""Wrong answers to `advantages/leave_one_out`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.advantages.leave_one_out.tests import reference


def _centered(rewards):
    r = np.asarray(rewards, dtype=float)
    return r - r.mean(-1, keepdims=True)


WRONG = (
    Mutant(
        "own reward included",
        _centered,
        "The mean includes the completion's own reward: this is plain centring.",
    ),
    Mutant(
        "divided by G",
        lambda r: np.asarray(r) - (np.sum(r, -1, keepdims=True) - r) / np.shape(r)[-1],
        "The sum of the others is divided by G; there are G - 1 of them.",
    ),
    Mutant(
        "0/0 for a group of one",
        lambda r: np.asarray(r) - (np.sum(r, -1, keepdims=True) - r) / (np.float64(np.shape(r)[-1]) - 1),
        "A group of one divides by zero.",
    ),
    Mutant(
        "own reward for a group of one",
        lambda r: np.asarray(r) - (np.sum(r, -1, keepdims=True) - r) / max(np.shape(r)[-1] - 1, 1),
        "A group of one keeps its reward here; it should get 0.",
    ),
    Mutant(
        "scaled the wrong way",
        lambda r: _centered(r) * (np.shape(r)[-1] - 1) / np.shape(r)[-1],
        "G and G - 1 are swapped.",
    ),
    Mutant(
        "negated",
        lambda r: -reference(r),
        "The sign is turned over: better than the others is positive.",
    ),
    Mutant(
        "over the whole batch",
        lambda r: reference(np.ravel(r)[None]).reshape(np.shape(r)),
        "The others are those of the same prompt, not of the whole batch.",
    ),
    Mutant("over the prompts", lambda r: reference(np.asarray(r).T).T, "The others are in the same row."),
    Mutant(
        "divided by the std",
        lambda r: reference(r) / (np.std(r, -1, keepdims=True) + 1e-8),
        "RLOO does not divide by the standard deviation.",
    ),
)
