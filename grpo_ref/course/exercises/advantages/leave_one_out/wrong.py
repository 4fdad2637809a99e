"""Wrong answers to `advantages/leave_one_out`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.advantages.leave_one_out.tests import reference


def on_floats(formula):
    """Return an answer that applies a formula to the rewards as an array of floats, and to G as a float."""

    def answer(rewards):
        r = np.asarray(rewards, dtype=float)
        return formula(r, np.float64(r.shape[-1]))

    return answer


def centered(r):
    return r - r.mean(-1, keepdims=True)


def sum_of_the_others(r):
    return r.sum(-1, keepdims=True) - r


def with_integer_division(rewards):
    r = np.asarray(rewards)
    others = r.shape[-1] - 1
    return r - sum_of_the_others(r) // others if others else np.zeros(r.shape)


WRONG = (
    Mutant(
        "own reward included",
        on_floats(lambda r, size: centered(r)),
        "Subtracts the mean of the whole group, which includes the completion's own reward.",
    ),
    Mutant(
        "divided by G",
        on_floats(lambda r, size: r - sum_of_the_others(r) / size),
        "Divides the sum of the other rewards by G; there are G - 1 of them.",
    ),
    Mutant(
        "not divided",
        on_floats(lambda r, size: (r - sum_of_the_others(r)) * (size > 1)),
        "Subtracts the sum of the other rewards; their mean is this sum divided by G - 1.",
    ),
    Mutant(
        "0/0 for a group of one",
        on_floats(lambda r, size: r - sum_of_the_others(r) / (size - 1.0)),
        "Divides 0 by 0 in a group of one.",
    ),
    Mutant(
        "own reward for a group of one",
        on_floats(lambda r, size: r - sum_of_the_others(r) / max(size - 1.0, 1.0)),
        "Gives a group of one its reward; its advantage is 0.",
    ),
    Mutant(
        "scaled the wrong way",
        on_floats(lambda r, size: centered(r) * (size - 1.0) / size),
        "Multiplies the centered reward by (G - 1)/G; the factor is G/(G - 1).",
    ),
    Mutant(
        "sign reversed",
        lambda r: -reference(r),
        "Subtracts the reward from the mean of the others, so that every sign is reversed.",
    ),
    Mutant(
        "over the whole batch",
        lambda r: reference(np.ravel(r)[None]).reshape(np.shape(r)),
        "Compares with all other completions of the batch; only those of the same prompt count.",
    ),
    Mutant(
        "over the prompts",
        lambda r: reference(np.asarray(r).T).T,
        "Compares with the other prompts (axis 0); the other completions of the prompt are in the same row.",
    ),
    Mutant(
        "no keepdims",
        on_floats(lambda r, size: r - (r.sum(-1) - r) / max(size - 1.0, 1.0)),
        "Uses the sum of group k for completion k of every group: sums of shape (P,) line up with the columns.",
    ),
    Mutant(
        "divided by the std",
        lambda r: reference(r) / (np.std(r, -1, keepdims=True) + 1e-8),
        "Divides by the standard deviation of the group; RLOO does not.",
    ),
    Mutant(
        "integer division",
        with_integer_division,
        "Divides with `//`, which rounds the mean of the others down to an integer.",
    ),
)
