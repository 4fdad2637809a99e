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
    same = np.allclose(f(x, ref), numerical, atol=1e-7)
    return None if same else "the value differs from a numerical derivative of k3"


CHECKS = (
    Case(
        "Twice as likely as under the reference",
        (np.log([0.5]), np.log([0.25])),
        np.array([0.5]),
        why="Raise log πθ by 0.01: k3 grows from 0.193147 to 0.198172, so the quotient is 0.5025.",
        shown=True,
    ),
    Case(
        "Half as likely",
        (np.log([0.25]), np.log([0.5])),
        np.array([-1.0]),
        why="Raise log πθ by 0.01: k3 falls from 0.306853 to 0.296953, so the quotient is -0.99.",
        shown=True,
    ),
    Case(
        "Four tokens in two rows",
        ([[-1.0, -4.0], [-2.0, -0.5]], [[-3.0, -1.0], [-2.0, -1.0]]),
        np.array([[1.0 - np.exp(-2.0), 1.0 - np.exp(3.0)], [0.0, 1.0 - np.exp(-0.5)]]),
        why="v is 2, -3, 0 and 0.5. The slope is 0 where both models agree: this is the minimum of k3.",
        shown=True,
    ),
    Case(
        "Nearly equal models",
        ([0.0], [-1e-9]),
        np.array([1e-9 - 5e-19]),
        why="v = 1e-9, and the slope is v - v²/2. A nearly equal value is wrong: it has lost digits.",
        shown=True,
    ),
    Case(
        "Equal models",
        (np.log([0.3]), np.log([0.3])),
        np.zeros(1),
        why="v = 0 is the minimum of k3, so the slope is 0.",
    ),
    Case(
        "Models a little apart",
        ([0.0], [-0.008]),
        np.array([0.008 - 0.008**2 / 2 + 0.008**3 / 6 - 0.008**4 / 24 + 0.008**5 / 120]),
        why="v = 0.008, with five terms of the series. Two terms are not enough for nine digits.",
    ),
    Holds(
        "It is the derivative of k3",
        _is_the_derivative,
        why="The value is compared with a central difference of k3.",
    ),
    Unchanged((np.log([0.5, 0.25]), np.log([0.25, 0.5]))),
)
