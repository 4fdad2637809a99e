"""The tests of `kl/estimators`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import penalties
from grpo_ref.course.author import Case, Domain, Holds, Unchanged
from grpo_ref.course.exercises.token_pairs import LARGE, SIZES, log_probs_of_both

DOMAIN = Domain(log_probs_of_both(1e-5, farthest=1000.0), sizes=SIZES, large=LARGE)


def reference(log_probs, ref_log_probs):
    arrays = np.asarray(log_probs, dtype=float), np.asarray(ref_log_probs, dtype=float)
    return penalties.k1(*arrays).value, penalties.k2(*arrays).value


def _k1_unbiased(f):
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    same = abs((p * np.asarray(f(np.log(p), np.log(q))[0])).sum() - (p * np.log(p / q)).sum()) < 1e-9
    return None if same else "averaged over tokens drawn from the policy, k1 should be KL(π ‖ πref)"


CHECKS = (
    Case(
        "Twice as likely as under the reference",
        (np.log([0.5]), np.log([0.25])),
        (np.log([2.0]), np.log([2.0]) ** 2 / 2),
        why="v = log 0.5 - log 0.25 = log 2 = 0.693, and half its square is 0.240.",
        shown=True,
    ),
    Case(
        "Half as likely",
        (np.log([0.25]), np.log([0.5])),
        (-np.log([2.0]), np.log([2.0]) ** 2 / 2),
        why="v = -log 2: k1 is negative, k2 is not",
    ),
    Case("Equal policies", (np.log([0.3]), np.log([0.3])), (np.zeros(1), np.zeros(1)), why="v = 0"),
    Holds("k1 is unbiased", _k1_unbiased, why="Σ π log(π/πref) is the KL itself"),
    Unchanged((np.log([0.5, 0.25]), np.log([0.25, 0.5]))),
)
