"""The tests of `kl/exact_kl`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import penalties
from grpo_ref.course.author import Case, Domain, Real, Rule, Unchanged
from grpo_ref.course.grading.domain.distributions import (
    ALIKE_THEN_ZEROS,
    DISTRIBUTIONS,
    LEAST_PROBABILITY,
    PROPORTIONAL,
    QUARTERS,
    SOME_TINY,
)


def _rows_are_probabilities(values):
    sums = [np.sum(values[name], -1) for name in ("probs", "ref_probs")]
    # Rounded probabilities can have a tiny negative KL. Such rows are not used, because a right answer may
    # replace negative values by 0.
    return np.allclose(sums, 1.0, rtol=0.0, atol=1e-12) and bool((reference(**values) >= 0.0).all())


def _reference_is_positive(values):
    return not ((np.asarray(values["ref_probs"]) == 0) & (np.asarray(values["probs"]) > 0)).any()


def reference(probs, ref_probs):
    with np.errstate(divide="ignore"):
        return penalties.exact_kl(
            np.log(np.asarray(probs, float)), np.log(np.asarray(ref_probs, float))
        ).value


DOMAIN = Domain(
    {
        "probs": Real(
            "V|N V|B N V",
            (0, 1),
            rows=DISTRIBUTIONS,
            least=LEAST_PROBABILITY,
            meaning="π, the probabilities of the policy",
        ),
        "ref_probs": Real(
            "V|N V|B N V",
            (0, 1),
            usual=((-0.01, 0.01), (0, 1)),
            near="probs",
            least=LEAST_PROBABILITY,
            rows=(PROPORTIONAL, SOME_TINY, QUARTERS, ALIKE_THEN_ZEROS),
            meaning="πref, those of the reference",
        ),
    },
    sizes={"B": (1, 2), "N": (1, 3), "V": (1, 5)},
    large={"V": 80, "N": 30},
    rules=(
        Rule("Where `ref_probs` is 0, `probs` is 0 too.", _reference_is_positive),
        Rule("Each row of `probs` and of `ref_probs` sums to 1, up to rounding.", _rows_are_probabilities),
    ),
)


CHECKS = (
    Case(
        "A fair coin against 3 : 1",
        ([[0.5, 0.5]], [[0.75, 0.25]]),
        np.array([np.log(2.0) - np.log(3.0) / 2]),
        why="The quotients are 2/3 and 2, so the KL is 1/2 log(2/3) + 1/2 log 2 = log 2 - (log 3)/2.",
        shown=True,
    ),
    Case(
        "Two rows, and tokens with probability 0",
        ([[1.0, 0.0, 0.0], [0.25, 0.25, 0.5]], [[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]]),
        np.array([np.log(2.0), np.log(2.0) / 4]),
        why="First row: log 2, and tokens with probability 0 add 0. Second row: (0 - log 2)/4 + (log 2)/2.",
        shown=True,
    ),
    Case(
        "The order matters",
        ([0.75, 0.25], [0.5, 0.5]),
        0.75 * np.log(1.5) + 0.25 * np.log(0.5),
        why="3/4 log(3/2) + 1/4 log(1/2) = 0.130812. A single row gives a number.",
        shown=True,
    ),
    Case(
        "Equal models",
        (np.full((2, 4), 0.25), np.full((2, 4), 0.25)),
        np.zeros(2),
        why="Every quotient is 1, and log 1 = 0.",
    ),
    Case(
        "A nearly impossible token counts",
        ([5e-13, 1 - 5e-13], [1e-4, 1 - 1e-4]),
        5e-13 * np.log(5e-9) + (1 - 5e-13) * (np.log1p(-5e-13) - np.log1p(-1e-4)),
        why=(
            "5e-13 log(5e-9) is a ten-millionth of the KL, which the tolerance notices. Add no small number to"
            " the probabilities."
        ),
    ),
    Unchanged((np.array([[0.5, 0.5, 0.0]]), np.array([[0.75, 0.25, 0.0]]))),
)
