"""The tests of `ratios/sapo`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import surrogates
from grpo_ref.course.author import Case, Domain, Holds, Real, Scalar, Unchanged

DOMAIN = Domain(
    {
        "ratio": Real(
            "|T|N T|B N T",
            (0.01, 50),
            usual=((0.1, 2.5), (0.01, 50), (10, 50)),
            at=(1,),
            meaning="r = πθ/πold of each token",
        ),
        "advantages": Real("|T|N T|B N T", (-1e4, 1e4), meaning="A, advantage of each token"),
        "tau_positive": Scalar(
            1.0, (0.1, 10), usual=((0.5, 3), (0.1, 10)), meaning="τ of the gate where A > 0"
        ),
        "tau_negative": Scalar(
            1.05, (0.1, 10), usual=((0.5, 3), (0.1, 10)), meaning="τ of the gate elsewhere"
        ),
    },
    sizes={"B": (1, 2), "N": (1, 3), "T": (1, 4)},
    large={"T": 200},
)


def reference(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    log_ratio, advantages = np.log(np.asarray(ratio, dtype=float)), np.asarray(advantages, dtype=float)
    term = surrogates.sapo(log_ratio, advantages, tau_positive=tau_positive, tau_negative=tau_negative)
    return term.value, term.slope


def slope_at_one_is_the_advantage(function):
    slopes = [function(np.ones(2), np.array([1.5, -0.5]), tau, 2.0 * tau)[1] for tau in (0.5, 1.0, 4.0)]
    is_equal = all(np.allclose(np.asarray(slope), [1.5, -0.5], atol=1e-9) for slope in slopes)
    return None if is_equal else "at a ratio of 1 the slope should be the advantage for every τ"


P, Q = 1.0 / (1.0 + np.exp(-1.0)), 1.0 / (1.0 + np.exp(-1.05))
"""The gate at a ratio of 2 with the default τ of good and of bad tokens: σ(1) and σ(1.05)."""

CHECKS = (
    Case(
        "Two values of τ",
        ([1.0, 1.0, 2.0], [3.0, -3.0, 1.0], 2.0, 4.0),
        (
            np.array([3.0, -1.5, 2.0 / (1.0 + np.exp(-2.0))]),
            np.array([3.0, -3.0, 8.0 * np.exp(-2.0) / (1.0 + np.exp(-2.0)) ** 2]),
        ),
        why=(
            "At r = 1 the gate is σ(0) = 1/2. The values are 4/2 · 1/2 · 3 and 4/4 · 1/2 · -3, and both slopes"
            " are 4 · 1/2 · 1/2 · A = A. At r = 2 the gate is σ(2) = 0.880797. The value is 4/2 · 0.880797 and"
            " the slope is 4 · 0.880797 · 0.119203 · 2."
        ),
        shown=True,
    ),
    Case(
        "The default values of τ",
        ([[1.0, 1.0], [2.0, 2.0]], [[1.0, -1.0], [1.0, -1.0]]),
        (
            np.array([[2.0, -2.0 / 1.05], [4.0 * P, -4.0 / 1.05 * Q]]),
            np.array([[1.0, -1.0], [8.0 * P * (1.0 - P), -8.0 * Q * (1.0 - Q)]]),
        ),
        why=(
            "Second row, good token: σ(1) = 0.731059, so the value is 4 · 0.731059 and the slope is"
            " 4 · 0.731059 · 0.268941 · 2. For the bad token the gate is σ(1.05) = 0.740775, and the value is"
            " 4/1.05 · 0.740775 · -1."
        ),
        shown=True,
    ),
    Case(
        "A tiny slope",
        (40.0, 1.0),
        (4.0, 160.0 * np.exp(-39.0)),
        why="The gate is σ(39), which is 1 to 16 digits. The slope is 4 · 1 · 1.15482e-17 · 40.",
        shown=True,
    ),
    Case(
        "A gate of 3/4",
        ([2.0], [1.0], np.log(3.0)),
        (np.array([3.0]) / np.log(3.0), np.array([1.5])),
        why="σ(log 3) = 3/4, so the value is 4/log 3 · 3/4 and the slope is 4 · 3/4 · 1/4 · 2.",
    ),
    Holds(
        "At a ratio of 1 the slope is the advantage",
        slope_at_one_is_the_advantage,
        why="The factor 4/τ makes the slope at r = 1 equal to A for every τ.",
    ),
    Unchanged((np.array([1.5, 0.5]), np.array([1.0, -1.0]))),
)
