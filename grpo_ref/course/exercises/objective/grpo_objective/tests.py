"""The tests of `objective/grpo_objective`: the inputs that its statement allows, the right answer, the checks."""

from itertools import pairwise

import numpy as np

from grpo_ref.course.author import (
    LEVELS,
    MIXED,
    SCALED_ROWS,
    Case,
    Domain,
    Holds,
    Raises,
    Real,
    Refusal,
    Rule,
    Scalar,
    Unchanged,
)
from grpo_ref.objective import grpo_objective

EXAMPLE = ([1.2, 0.8, 1.1], [1.0, 1.0, 1.0], [0.9, 1.1, 1.0], [1.0, 0.5, 1.5])
ONES = [1.0, 1.0]
ARRAYS = ("rhos", "A", "pi_theta_old", "pi_theta_ref")
LENGTHS = (
    *((2, 3, 3, 3), (3, 2, 3, 3), (3, 3, 2, 3), (3, 3, 3, 2)),
    *((2, 2, 3, 3), (2, 3, 2, 3), (2, 3, 3, 2)),
    *((1, 3, 3, 3), (3, 1, 3, 3), (3, 3, 1, 3), (3, 3, 3, 1), (1, 3, 1, 3)),
)
OF_DIFFERENT_LENGTHS = tuple(
    tuple(values[:length] for values, length in zip(EXAMPLE, lengths, strict=True)) for lengths in LENGTHS
)


def one_shorter(values):
    """Remove the last number of one array. Which array it is depends on the length."""
    name = ARRAYS[len(values["rhos"]) % len(ARRAYS)]
    return {name: values[name][:-1]}


def has_a_policy(values):
    return bool((np.asarray(values["rhos"]) * np.asarray(values["pi_theta_old"])).sum() > 0.0)


DOMAIN = Domain(
    {
        "rhos": Real(
            "G",
            (0, 100),
            usual=((0.5, 1.5), (0, 3), (0, 100)),
            at=(1, "1 + epsilon", "1 - epsilon"),
            meaning="ρ = πθ/πold, one ratio per outcome",
        ),
        "A": Real("G", (-100, 100), meaning="A, one advantage per outcome"),
        "pi_theta_old": Real(
            "G",
            (0, 100),
            usual=((0.05, 1), (0, 100)),
            rows=(MIXED, LEVELS, SCALED_ROWS),
            meaning="proportional to πold; any sum",
        ),
        "pi_theta_ref": Real(
            "G",
            (1e-12, 100),
            usual=((0.05, 1), (1e-12, 1), (0.05, 100)),
            rows=(MIXED, LEVELS, SCALED_ROWS),
            meaning="proportional to πref; any sum",
        ),
        "epsilon": Scalar(0.2, (0, 0.99), at=(0,), meaning="ε, half-width of the clip range"),
        "beta": Scalar(0.01, (0, 10), at=(0, 1), meaning="β, weight of the KL"),
    },
    sizes={"G": (1, 5)},
    large={"G": 100},
    rules=(Rule("At least one outcome has both `rhos` and `pi_theta_old` above 0.", has_a_policy),),
    refusals=(Refusal("arrays that do not all have the same length", one_shorter),),
)


def number(f, *arguments):
    return float(np.asarray(f(*arguments)))


def equal_policies(f):
    value = number(f, [1.0, 1.0], [0.5, 0.25], [0.3, 0.7], [0.3, 0.7], 0.2, 1.0)
    is_right = abs(value - 0.375) < 1e-6
    return None if is_right else "with equal policies only the mean advantage should remain"


def falls_with_beta(f):
    values = [number(f, *EXAMPLE, 0.2, beta) for beta in (0.0, 0.01, 0.1, 1.0)]
    is_falling = all(high > low for high, low in pairwise(values))
    return None if is_falling else "beta 0, 0.01, 0.1 and 1 should give falling values"


reference = grpo_objective
RTOL = 1e-11
CHECKS = (
    Case(
        "Reference example",
        EXAMPLE,
        1.032748929359358,
        why="No ratio is outside 1 ± 0.2, so the surrogate is 3.1/3. The KL is 0.0584404, times 0.01.",
        shown=True,
    ),
    Holds(
        "Matching policies make KL ~ 0; objective ~ mean advantage",
        equal_policies,
        why="The ratios are 1 and the reference is the policy, so only the mean advantage remains.",
    ),
    Case(
        "Large ratio with positive advantage is clipped",
        ([2.0, 1.0], ONES, ONES, ONES, 0.2, 0.0),
        1.1,
        why="min(2, 1.2) = 1.2, and the second outcome gives 1: their mean is 1.1.",
        shown=True,
    ),
    Raises(
        "Length mismatch raises ValueError",
        OF_DIFFERENT_LENGTHS,
        why="Any of the four arrays may have another length, also length 1, which NumPy would broadcast.",
    ),
    Holds(
        "Larger beta lowers the objective when KL > 0",
        falls_with_beta,
        why="The KL of this input is positive, and β times the KL is subtracted.",
    ),
    Case(
        "Small ratio with negative advantage is clipped",
        ([2.0, 0.5], [-1.0, -1.0], ONES, ONES, 0.2, 0.0),
        -1.4,
        why="min(-2, -1.2) = -2 and min(-0.5, -0.8) = -0.8: their mean is -1.4.",
        shown=True,
    ),
    Case(
        "A ratio of 0",
        ([0.0, 1.0], [0.0, 0.0], ONES, ONES, 0.2, 1.0),
        -np.log(2.0 + 1e-10),
        why="The KL is 0 · log(1e-10) + 1 · log(2 + 1e-10).",
        shown=True,
    ),
    Case(
        "Small ratio with positive advantage is not clipped",
        ([0.5, 1.0], ONES, ONES, ONES, 0.2, 0.0),
        0.75,
        why="min(0.5, 0.8) = 0.5: a good outcome that has become less likely is not clipped.",
    ),
    Case(
        "Inputs may be integers",
        (np.array([2, 1]), np.array([1, -1]), np.array([1, 2]), np.array([3, 1]), 0.2, 0.0),
        0.1,
        why="min(2, 1.2) and -1 have the mean 0.1. An integer array cannot be divided in place.",
    ),
    Unchanged(tuple(np.array(values) for values in EXAMPLE)),
    Case(
        "A reference that nearly sums to 1",
        (ONES, [0.0, 0.0], [0.5, 0.5], [0.5, 0.505], 0.2, 1.0),
        -0.5 * (np.log(1.005 + 1e-10) + np.log(1.005 / 1.01 + 1e-10)),
        why="πref is 0.5/1.005 and 0.505/1.005, so the quotients are 1.005 and 1.005/1.01.",
    ),
)
