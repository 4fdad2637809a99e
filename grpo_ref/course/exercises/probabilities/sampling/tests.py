"""The tests of `probabilities/sampling`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Real, Rule, Unchanged
from grpo_ref.course.exercises.probabilities.entropy.tests import SUMS_TO_ONE
from grpo_ref.course.grading.domain.distributions import DISTRIBUTIONS, LEAST_PROBABILITY

LARGEST = float(np.nextafter(1.0, 0.0))
"""Largest number below 1."""


def is_decided(values):
    """Return whether rounding of the sums cannot change a token."""
    for row, u in zip(values["probs"], values["uniforms"], strict=True):
        sums = np.cumsum(np.asarray(row, dtype=np.longdouble))[: np.flatnonzero(row)[-1]]
        is_exact = (np.asarray(row) * 4 % 1 == 0).all()
        if not is_exact and (np.abs(u - sums) < 1e-13 * sums).any():
            return False
    return True


DOMAIN = Domain(
    {
        "probs": Real(
            "N V",
            (0, 1),
            rows=DISTRIBUTIONS,
            least=LEAST_PROBABILITY,
            meaning="p, one distribution per row",
        ),
        "uniforms": Real(
            "N",
            (0, LARGEST),
            usual=((0, 1),),
            at=(0.25, 0.5, 0.75, LARGEST),
            meaning="u, one uniform number below 1 per row",
        ),
    },
    sizes={"N": (1, 5), "V": (1, 6)},
    large={"N": 40, "V": 300},
    rules=(
        SUMS_TO_ONE,
        Rule(
            "Apart from the last sum, u is never within 1e-13 of a sum, unless the probabilities are multiples of"
            " 1/4. So rounding never decides the answer.",
            is_decided,
        ),
    ),
)


def reference(probs, uniforms):
    probs, uniforms = np.asarray(probs, dtype=float), np.asarray(uniforms, dtype=float)
    tokens = (probs.cumsum(-1) <= uniforms[:, None]).sum(-1)
    last_possible = probs.shape[-1] - 1 - (probs[:, ::-1] > 0).argmax(-1)
    return np.minimum(tokens, last_possible)


CHECKS = (
    Case(
        "Three samples from the same probabilities",
        ([[0.5, 0.25, 0.25]] * 3, [0.1, 0.6, 0.9]),
        np.array([0, 1, 2]),
        why="The sums are 0.5, 0.75 and 1. The first one above 0.1 is 0.5; for 0.6 it is 0.75, and for 0.9 it is 1.",
        shown=True,
    ),
    Case(
        "A sum that is equal to u",
        ([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]], [0.5, 0.0, 0.5]),
        np.array([1, 1, 2]),
        why="A sum that is equal to u is not larger, so a token of probability 0 is never sampled.",
        shown=True,
    ),
    Case(
        "A last sum below 1",
        ([[0.1] * 10 + [0.0]], [LARGEST]),
        np.array([9]),
        why="No computed sum is larger than u, and token 9 is the last one whose probability is not 0.",
        shown=True,
    ),
    Case(
        "Several tokens of probability 0 at the end",
        ([[0.3, 0.6, 0.1, 0.0, 0.0, 0.0]], [LARGEST]),
        np.array([2]),
        why="0.3 + 0.6 + 0.1 is rounded to 0.9999999999999999, which is u. Token 2 is the last possible one.",
    ),
    Case(
        "Each row has a last token of its own",
        ([[1.0] + [0.0] * 10, [0.1] * 10 + [0.0]], [0.5, LARGEST]),
        np.array([0, 9]),
        why="The sum of the second row is not larger than u, so its own last token with a probability above 0 counts.",
    ),
    Case(
        "No token after the last one",
        (np.full((1, 10), 0.1), [LARGEST]),
        np.array([9]),
        why="Ten times 0.1 sums to a little less than 1.",
    ),
    Case(
        "A sum very close to u",
        (
            [[0.5, 0.5], [0.5, 0.5], [1e-12, 1 - 1e-12], [1e-12, 1 - 1e-12]],
            [0.5 - 1e-10, 0.5, 5e-13, 2e-12],
        ),
        np.array([0, 1, 0, 1]),
        why="u is compared exactly: 0.5 is larger than 0.5 - 1e-10, and 1e-12 is larger than 5e-13.",
    ),
    Unchanged((np.array([[0.5, 0.5]]), np.array([0.7]))),
)
