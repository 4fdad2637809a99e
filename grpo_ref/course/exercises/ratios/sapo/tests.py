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
            meaning="r = πθ/πold",
        ),
        "advantages": Real("|T|N T|B N T", (-1e4, 1e4), meaning="A"),
        "tau_positive": Scalar(
            1.0, (0.1, 10), usual=((0.5, 3), (0.1, 10)), meaning="sharpness of the gate for good tokens"
        ),
        "tau_negative": Scalar(1.05, (0.1, 10), usual=((0.5, 3), (0.1, 10)), meaning="for all others"),
    },
    sizes={"B": (1, 2), "N": (1, 3), "T": (1, 4)},
    large={"T": 200},
)


def reference(ratio, advantages, tau_positive=1.0, tau_negative=1.05):
    log_ratio, advantages = np.log(np.asarray(ratio, dtype=float)), np.asarray(advantages, dtype=float)
    term = surrogates.sapo(log_ratio, advantages, tau_positive=tau_positive, tau_negative=tau_negative)
    return term.value, term.slope


def _on_policy(f):
    slopes = [f(np.ones(2), np.array([1.5, -0.5]), t, 2.0 * t)[1] for t in (0.5, 1.0, 4.0)]
    same = all(np.allclose(np.asarray(slope), [1.5, -0.5], atol=1e-9) for slope in slopes)
    return None if same else "at a ratio of 1 the slope should be the advantage, whatever the temperatures"


CHECKS = (
    Case(
        "On policy, and a ratio of two",
        ([1.0, 1.0, 2.0], [3.0, -3.0, 1.0], 2.0, 4.0),
        (
            np.array([3.0, -1.5, 2.0 / (1.0 + np.exp(-2.0))]),
            np.array([3.0, -3.0, 8.0 * np.exp(-2.0) / (1.0 + np.exp(-2.0)) ** 2]),
        ),
        why=(
            "At r = 1 the gate is σ(0) = 1/2: values 4/2 · 1/2 · 3 and 4/4 · 1/2 · -3, slopes 4 · 1/2 · 1/2 · A."
            " At r = 2 it is σ(2) = 0.880797: value 4/2 · 0.880797, slope 4 · 0.880797 · 0.119203 · 2."
        ),
        shown=True,
    ),
    Case(
        "A ratio of two",
        ([2.0], [1.0], np.log(3.0)),
        (np.array([3.0]) / np.log(3.0), np.array([1.5])),
        why="σ(log 3) = 3/4: value 4/log 3 · 3/4, slope 4 · 3/16 · 2",
    ),
    Case(
        "Far above 1",
        ([40.0], [1.0]),
        (np.array([4.0]), np.array([160.0 * np.exp(-39.0)])),
        why="σ(39) is 1 and σ(-39) is exp(-39), both to 16 digits: value 4, slope 4 · exp(-39) · 40",
    ),
    Holds("At a ratio of 1 the slope is the advantage", _on_policy, why="that is what the factor 4/τ is for"),
    Unchanged((np.array([1.5, 0.5]), np.array([1.0, -1.0]))),
)
