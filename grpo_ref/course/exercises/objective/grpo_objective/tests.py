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

LENGTHS = (
    *((2, 3, 3, 3), (3, 2, 3, 3), (3, 3, 2, 3), (3, 3, 3, 2)),
    *((2, 2, 3, 3), (2, 3, 2, 3), (2, 3, 3, 2)),
    *((1, 3, 3, 3), (3, 1, 3, 3), (3, 3, 1, 3), (3, 3, 3, 1)),
)

OF_DIFFERENT_LENGTHS = tuple(
    tuple(values[:length] for values, length in zip(EXAMPLE, lengths, strict=True)) for lengths in LENGTHS
)


def _one_short(name):
    """Remove the last number of one of the four inputs."""
    return Refusal(f"{name} shorter than the others", lambda values: {name: values[name][:-1]})


def _has_some_mass(values):
    return bool((np.asarray(values["rhos"]) * np.asarray(values["pi_theta_old"])).sum() > 0.0)


DOMAIN = Domain(
    {
        "rhos": Real(
            "G",
            (0, 100),
            usual=((0.5, 1.5), (0, 3), (0, 100)),
            at=(1, "1 + epsilon", "1 - epsilon"),
            meaning="G likelihood ratios πθ(oᵢ)/πold(oᵢ)",
        ),
        "A": Real("G", (-100, 100), meaning="G advantages"),
        "pi_theta_old": Real(
            "G",
            (0, 100),
            usual=((0.05, 1), (0, 100)),
            rows=(MIXED, LEVELS, SCALED_ROWS),
            meaning="G probabilities, which need not sum to 1",
        ),
        "pi_theta_ref": Real(
            "G",
            (1e-12, 100),
            usual=((0.05, 1), (1e-12, 1), (0.05, 100)),
            rows=(MIXED, LEVELS, SCALED_ROWS),
            meaning="G probabilities, which need not sum to 1",
        ),
        "epsilon": Scalar(0.2, (0, 0.99), at=(0,), meaning="ε, the clip range"),
        "beta": Scalar(0.01, (0, 10), at=(0, 1), meaning="β, the weight of the KL"),
    },
    sizes={"G": (1, 5)},
    large={"G": 100},
    rules=(Rule("At least one outcome has a ratio and an old probability above 0.", _has_some_mass),),
    refusals=tuple(map(_one_short, ("rhos", "A", "pi_theta_old", "pi_theta_ref"))),
)


def _number(f, *arguments):
    return float(np.asarray(f(*arguments)))


def _rounds_to_the_published_value(f):
    same = round(_number(f, *EXAMPLE, 0.2, 0.01), 6) == 1.032749
    return None if same else "rounded to six digits it should be 1.032749"


def _matching_policies(f):
    value = _number(f, [1.0, 1.0], [0.5, 0.25], [0.3, 0.7], [0.3, 0.7], 0.2, 1.0)
    return None if abs(value - 0.375) < 1e-6 else "with equal policies only the mean advantage should be left"


def _larger_beta_lowers(f):
    values = [_number(f, *EXAMPLE, 0.2, beta) for beta in (0.0, 0.01, 0.1, 1.0)]
    falling = all(high > low for high, low in pairwise(values))
    return None if falling else "beta 0, 0.01, 0.1 and 1 should give falling values"


def _defaults(f):
    same = abs(_number(f, *EXAMPLE) - _number(f, *EXAMPLE, 0.2, 0.01)) < 1e-12
    return None if same else "left out, epsilon is 0.2 and beta 0.01"


reference = grpo_objective
RTOL = 1e-11
CHECKS = (
    Holds(
        "Reference example",
        _rounds_to_the_published_value,
        why="No ratio leaves 1 ± 0.2, so the surrogate is 3.1/3; the KL is 0.0584, of which 1 % comes off.",
        shown=True,
    ),
    Holds(
        "Matching policies make KL ~ 0; objective ~ mean advantage",
        _matching_policies,
        why="Ratios of 1 and a reference equal to the policy leave nothing but the mean of the advantages.",
    ),
    Case(
        "Large ratio with positive advantage is clipped",
        ([2.0, 1.0], [1.0, 1.0], ONES, ONES, 0.2, 0.0),
        1.1,
        why="min(2, 1.2) = 1.2, and 1: their mean is 1.1. beta is 0, so there is no penalty.",
        shown=True,
    ),
    Raises(
        "Length mismatch raises ValueError",
        OF_DIFFERENT_LENGTHS,
        why="Any of the four inputs may be short, and two of them as well, also so short that NumPy would stretch it; assert will not do, it can be switched off.",
    ),
    Holds(
        "Larger beta lowers the objective when KL > 0",
        _larger_beta_lowers,
        why="The KL is positive here, and it is subtracted.",
    ),
    Case(
        "Small ratio with negative advantage is clipped",
        ([0.5, 1.0], [-1.0, 1.0], ONES, ONES, 0.2, 0.0),
        0.1,
        why="min(-0.5, -0.8) = -0.8, and 1: their mean is 0.1.",
    ),
    Case(
        "Large ratio with negative advantage is not clipped",
        ([2.0, 1.0], [-1.0, 1.0], ONES, ONES, 0.2, 0.0),
        -0.5,
        why="min(-2, -1.2) = -2: a bad outcome that has become likelier keeps its full weight.",
    ),
    Case(
        "Small ratio with positive advantage is not clipped",
        ([0.5, 1.0], [1.0, 1.0], ONES, ONES, 0.2, 0.0),
        0.75,
        why="min(0.5, 0.8) = 0.5: a good outcome that has become rarer keeps pulling.",
    ),
    Case(
        "An outcome of probability zero is no problem",
        ([0.0, 1.0], [0.0, 0.0], ONES, ONES, 0.2, 1.0),
        -np.log(2.0 + 1e-10),
        why="0 times log(0 + 1e-10) is 0; what is left is 1 times log(2 + 1e-10).",
    ),
    Case(
        "Integers will do",
        (np.array([2, 1]), np.array([1, -1]), np.array([1, 2]), np.array([3, 1]), 0.2, 0.0),
        0.1,
        why="Integer arrays cannot be divided in place. min(2, 1.2) and -1 have the mean 0.1.",
    ),
    Holds("Epsilon and beta have their defaults", _defaults, why="The signature gives 0.2 and 0.01."),
    Unchanged(tuple(np.array(values) for values in EXAMPLE)),
    Case(
        "A reference that nearly sums to 1",
        ([1.0, 1.0], [0.0, 0.0], [0.5, 0.5], [0.5, 0.505], 0.2, 1.0),
        -0.5 * (np.log(1.005 + 1e-10) + np.log(1.005 / 1.01 + 1e-10)),
        why="q is 0.5/1.005 and 0.505/1.005, so p/q is 1.005 and 1.005/1.01; nearly 1 is not 1",
    ),
)
