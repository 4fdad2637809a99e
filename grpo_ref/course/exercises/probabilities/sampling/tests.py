"""The tests of `probabilities/sampling`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Real, Unchanged
from grpo_ref.course.grading.domain.distributions import DISTRIBUTIONS, LEAST_PROBABILITY

LARGEST = float(np.nextafter(1.0, 0.0))

DOMAIN = Domain(
    {
        "probs": Real(
            "N V",
            (0, 1),
            rows=DISTRIBUTIONS,
            least=LEAST_PROBABILITY,
            meaning="p, a distribution over the vocabulary in each row; it sums to 1 up to rounding",
        ),
        "uniforms": Real(
            "N",
            (0, LARGEST),
            usual=((0, 1),),
            at=(0.25, 0.5, 0.75, LARGEST),
            meaning="u, one number below 1 for each row",
        ),
    },
    sizes={"N": (1, 5), "V": (1, 6)},
    large={"N": 40, "V": 300},
)


def reference(probs, uniforms):
    probs, uniforms = np.asarray(probs, dtype=float), np.asarray(uniforms, dtype=float)
    tokens = (probs.cumsum(-1) <= uniforms[:, None]).sum(-1)
    last_possible = probs.shape[-1] - 1 - (probs[:, ::-1] > 0).argmax(-1)
    return np.minimum(tokens, last_possible)


CHECKS = (
    Case(
        "Three draws from a half and two quarters",
        ([[0.5, 0.25, 0.25]] * 3, [0.1, 0.6, 0.9]),
        np.array([0, 1, 2]),
        why="The sums are 0.5, 0.75 and 1. The first that is larger than 0.1 is 0.5, for 0.6 it is 0.75, for 0.9 it is 1.",
        shown=True,
    ),
    Case(
        "On the edge",
        ([[0.5, 0.5], [0.5, 0.5]], [0.5, 0.0]),
        np.array([1, 0]),
        why="0.5 is not larger than 0.5, so the next token comes; but it is larger than 0",
    ),
    Case(
        "What is impossible is never drawn",
        ([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]], [0.0, 0.5]),
        np.array([1, 2]),
        why="0 is not larger than 0, and the second token adds nothing to 0.5",
    ),
    Case(
        "Rounding does not lead past the end",
        (np.full((1, 10), 0.1), [LARGEST]),
        np.array([9]),
        why="ten times 0.1 adds up to less than 1",
    ),
    Case(
        "Rounding does not lead to an impossible token",
        ([[0.1] * 10 + [0.0]], [LARGEST]),
        np.array([9]),
        why="the sums end below u, and the last token has probability 0: the one before it is due",
    ),
    Case(
        "A hair beside the edge",
        (
            [[0.5, 0.5], [0.5, 0.5], [1e-12, 1 - 1e-12], [1e-12, 1 - 1e-12]],
            [0.5 - 1e-10, 0.5, 5e-13, 2e-12],
        ),
        np.array([0, 1, 0, 1]),
        why="u is compared exactly: 0.5 is larger than 0.5 - 1e-10, and 1e-12 is larger than 5e-13",
    ),
    Unchanged((np.array([[0.5, 0.5]]), np.array([0.7]))),
)
