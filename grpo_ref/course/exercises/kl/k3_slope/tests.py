"""The tests of `kl/k3_slope`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import penalties
from grpo_ref.course.author import Case, Domain, Holds, Unchanged
from grpo_ref.course.exercises.token_pairs import LARGE, NO_OVERFLOW, SIZES, log_probs_of_both

DOMAIN = Domain(
    log_probs_of_both(1e-6),
    sizes=SIZES,
    large=LARGE,
    rules=(NO_OVERFLOW,),
)


def reference(log_probs, ref_log_probs):
    return penalties.k3(np.asarray(log_probs, float), np.asarray(ref_log_probs, float)).direct


def _is_the_derivative(f):
    x, ref = np.log(np.array([0.2, 0.5, 0.9])), np.log(np.array([0.6, 0.5, 0.1]))

    def value(z):
        return np.expm1(ref - z) + z - ref

    numerical = (value(x + 1e-6) - value(x - 1e-6)) / 2e-6
    return (
        None if np.allclose(f(x, ref), numerical, atol=1e-7) else "it differs from a central difference of k3"
    )


CHECKS = (
    Case(
        "Twice as likely as in the reference",
        (np.log([0.5]), np.log([0.25])),
        np.array([0.5]),
        why="v = log 2. The derivative turns out to be 1 - e⁻ᵛ, here 1 - 1/2: the token is pushed down.",
        shown=True,
    ),
    Case("Half as likely", (np.log([0.25]), np.log([0.5])), np.array([-1.0]), why="1 - 2"),
    Case("Equal policies", (np.log([0.3]), np.log([0.3])), np.zeros(1), why="the minimum of k3"),
    Case(
        "Nearly equal policies",
        (np.zeros(1), np.array([-1e-9])),
        np.array([1e-9 - 5e-19]),
        why="v - v²/2",
    ),
    Case(
        "A little apart",
        ([0.0], [-0.008]),
        np.array([0.008 - 0.008**2 / 2 + 0.008**3 / 6 - 0.008**4 / 24 + 0.008**5 / 120]),
        why="v = 0.008, five terms of the series: two are not enough for nine digits",
    ),
    Holds("It is the derivative of k3", _is_the_derivative, why="checked by central differences"),
    Unchanged((np.log([0.5, 0.25]), np.log([0.25, 0.5]))),
)
