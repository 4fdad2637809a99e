"""The tests of `kl/estimators`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import penalties
from grpo_ref.course.author import Case, Domain, Holds, Unchanged
from grpo_ref.course.exercises.token_pairs import LARGE, SIZES, log_probs_of_both

DOMAIN = Domain(log_probs_of_both(1e-5, farthest=1000.0), sizes=SIZES, large=LARGE)


def reference(log_probs, ref_log_probs):
    arrays = np.asarray(log_probs, dtype=float), np.asarray(ref_log_probs, dtype=float)
    return penalties.k1(*arrays).value, penalties.k2(*arrays).value


def _k1_is_unbiased(f):
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    same = abs((p * np.asarray(f(np.log(p), np.log(q))[0])).sum() - (p * np.log(p / q)).sum()) < 1e-9
    return None if same else "the average of k1 over the policy's tokens should be KL(π ‖ πref)"


CHECKS = (
    Case(
        "Twice as likely as under the reference",
        (np.log([0.5]), np.log([0.25])),
        (np.log([2.0]), np.log([2.0]) ** 2 / 2),
        why="v = log 0.5 - log 0.25 = log 2 = 0.693147, and half its square is 0.240227.",
        shown=True,
    ),
    Case(
        "Four tokens in two rows",
        ([[-1.0, -4.0], [-2.0, -0.5]], [[-3.0, -1.0], [-2.0, -1.0]]),
        (np.array([[2.0, -3.0], [0.0, 0.5]]), np.array([[2.0, 4.5], [0.0, 0.125]])),
        why="v is 2, -3, 0 and 0.5. Every token keeps its own estimates, and k1 keeps the sign of v.",
        shown=True,
    ),
    Case(
        "Numbers",
        (-4.0, -1.0),
        (-3.0, 4.5),
        why="v = -4 - (-1) = -3, and 9 / 2 = 4.5.",
        shown=True,
    ),
    Case(
        "Half as likely as under the reference",
        (np.log([0.25]), np.log([0.5])),
        (-np.log([2.0]), np.log([2.0]) ** 2 / 2),
        why="v = -log 2, so k1 is negative and k2 is positive.",
    ),
    Case(
        "Equal models",
        (np.log([0.3]), np.log([0.3])),
        (np.zeros(1), np.zeros(1)),
        why="v is 0, and so are both estimates.",
    ),
    Holds("k1 is unbiased", _k1_is_unbiased, why="Σ π log(π/πref) is the KL itself."),
    Unchanged((np.log([0.5, 0.25]), np.log([0.25, 0.5]))),
)
