"""The tests of `kl/normalized_kl`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Holds, Real, Rule, Unchanged
from grpo_ref.objective import grpo_objective

DOMAIN = Domain(
    {
        "rhos": Real("G", (0, 100), usual=((0.1, 2), (0, 100)), meaning="ρ = πθ/πold of each outcome"),
        "pi_theta_old": Real(
            "G",
            (0, 10),
            usual=((0.01, 1), (1e-12, 1), (0, 10)),
            meaning="πold of each outcome",
        ),
        "pi_theta_ref": Real(
            "G",
            (1e-12, 10),
            usual=((0.01, 1), (1e-12, 1), (0.01, 10)),
            meaning="πref of each outcome",
        ),
    },
    sizes={"G": (2, 6)},
    large={"G": 80},
    rules=(
        Rule(
            "Σ ρ πold is positive.",
            lambda values: float(np.dot(values["rhos"], values["pi_theta_old"])) > 0.0,
        ),
    ),
)


def reference(rhos, pi_theta_old, pi_theta_ref):
    return -grpo_objective(rhos, np.zeros(len(rhos)), pi_theta_old, pi_theta_ref, beta=1.0)


def _is_the_same_on_any_scale(f):
    rho, old, ref = np.array([1.2, 0.7]), np.array([0.4, 0.6]), np.array([0.5, 0.5])
    same = abs(float(f(rho, old, ref)) - float(f(rho, 10 * old, 7 * ref))) < 1e-12
    return None if same else "the KL should not change if the probabilities are multiplied by a constant"


def _is_zero_for_equal_distributions(f):
    value = f(np.ones(2), np.array([0.3, 0.7]), np.array([0.3, 0.7]))
    return None if abs(float(value)) < 1e-9 else "the KL of equal distributions should be about 1e-10"


RTOL = 1e-11
CHECKS = (
    Case(
        "The first outcome has become more likely",
        ([1.5, 0.5], [0.5, 0.5], [0.5, 0.5]),
        0.75 * np.log(1.5 + 1e-10) + 0.25 * np.log(0.5 + 1e-10),
        why=(
            "ρ πold is 0.75 and 0.25 with the sum 1, so p = 3/4, 1/4 and q = 1/2, 1/2. The quotients are 1.5"
            " and 0.5, and 3/4 log 1.5 + 1/4 log 0.5 = 0.130812."
        ),
        shown=True,
    ),
    Case(
        "An impossible outcome, and sums other than 1",
        ([2.0, 0.5, 0.0], [0.3, 0.4, 0.1], [0.2, 0.2, 0.4]),
        0.75 * np.log(3.0 + 1e-10) + 0.25 * np.log(1.0 + 1e-10),
        why="p = 3/4, 1/4, 0 and q = 1/4, 1/4, 1/2. The KL is 3/4 log 3 + 1/4 log 1 + 0 = 0.823959.",
        shown=True,
    ),
    Case(
        "Ratios of 1 do not mean a KL of 0",
        ([1.0, 1.0], [0.2, 0.6], [0.5, 0.5]),
        0.25 * np.log(0.5 + 1e-10) + 0.75 * np.log(1.5 + 1e-10),
        why="p = 1/4, 3/4 and q = 1/2, 1/2: the policy has not changed, but it is not the reference.",
        shown=True,
    ),
    Case(
        "An outcome that has become impossible",
        ([0.0, 1.0], [0.5, 0.5], [0.5, 0.5]),
        np.log(2.0 + 1e-10),
        why="p = 0, 1, and the first outcome adds 0 · log 1e-10 = 0.",
    ),
    Case(
        "Large sums",
        ([3.0, 1.0], [2.0, 2.0], [1.0, 1.0]),
        0.75 * np.log(1.5 + 1e-10) + 0.25 * np.log(0.5 + 1e-10),
        why="ρ πold = 6, 2 and πref = 1, 1 are again p = 3/4, 1/4 and q = 1/2, 1/2.",
    ),
    Holds(
        "Equal distributions",
        _is_zero_for_equal_distributions,
        why="Every quotient is 1, and log(1 + 1e-10) is about 1e-10.",
    ),
    Holds(
        "The inputs need not sum to 1",
        _is_the_same_on_any_scale,
        why="p and q are each divided by their own sum.",
    ),
    Unchanged((np.array([1.5, 0.5]), np.array([0.5, 0.5]), np.array([0.4, 0.6]))),
)
