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
            meaning="πold of each outcome; need not sum to 1",
        ),
        "pi_theta_ref": Real(
            "G",
            (1e-12, 10),
            usual=((0.01, 1), (1e-12, 1), (0.01, 10)),
            meaning="πref of each outcome; need not sum to 1",
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


def _units(f):
    rho, old, ref = np.array([1.2, 0.7]), np.array([0.4, 0.6]), np.array([0.5, 0.5])
    same = abs(float(f(rho, old, ref)) - float(f(rho, 10 * old, 7 * ref))) < 1e-12
    return None if same else "probabilities that do not sum to 1 should be normalized first"


def _matching(f):
    value = f(np.ones(2), np.array([0.3, 0.7]), np.array([0.3, 0.7]))
    return None if abs(float(value)) < 1e-9 else "equal distributions should have no divergence"


RTOL = 1e-11
CHECKS = (
    Case(
        "Three quarters against one half",
        ([1.5, 0.5], [0.5, 0.5], [0.5, 0.5]),
        0.75 * np.log(1.5 + 1e-10) + 0.25 * np.log(0.5 + 1e-10),
        why=(
            "ρ πold = 0.75 and 0.25 sum to 1, so p = 3/4, 1/4 and q = 1/2, 1/2. The quotients are 1.5 and 0.5,"
            " and 3/4 log 1.5 + 1/4 log 0.5 = 0.131."
        ),
        shown=True,
    ),
    Case(
        "An outcome that became impossible",
        ([0.0, 1.0], [0.5, 0.5], [0.5, 0.5]),
        np.log(2.0 + 1e-10),
        why="p = 0, 1; the first adds 0 · log 1e-10",
    ),
    Case(
        "Nothing sums to one",
        ([3.0, 1.0], [2.0, 2.0], [1.0, 1.0]),
        0.75 * np.log(1.5 + 1e-10) + 0.25 * np.log(0.5 + 1e-10),
        why="ρ πold = 6, 2 and πref = 1, 1 are again p = 3/4, 1/4 and q = 1/2, 1/2",
    ),
    Holds(
        "Matching policies have none",
        _matching,
        why="every quotient is 1, and log(1 + 1e-10) is about 1e-10",
    ),
    Holds("The inputs need not sum to one", _units, why="each side is divided by its own sum"),
    Unchanged((np.array([1.5, 0.5]), np.array([0.5, 0.5]), np.array([0.4, 0.6]))),
)
