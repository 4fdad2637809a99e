"""Exercise: the slope of the k3 penalty."""

from typing import Any

import numpy as np

from grpo_ref import penalties
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.course.problems.token_pairs import LARGE, NO_OVERFLOW, SIZES, log_probs_of_both

DOMAIN = Domain(
    log_probs_of_both(1e-6),
    sizes=SIZES,
    large=LARGE,
    rules=(NO_OVERFLOW,),
)


def _reference(log_probs: Any, ref_log_probs: Any) -> Any:
    return penalties.k3(np.asarray(log_probs, float), np.asarray(ref_log_probs, float)).direct


def _of(formula: Any) -> Function:
    return lambda log_probs, ref: formula(np.asarray(log_probs, float) - np.asarray(ref, float))


def _is_the_derivative(f: Function) -> str | None:
    x, ref = np.log(np.array([0.2, 0.5, 0.9])), np.log(np.array([0.6, 0.5, 0.1]))

    def value(z: Any) -> Any:
        return np.expm1(ref - z) + z - ref

    numerical = (value(x + 1e-6) - value(x - 1e-6)) / 2e-6
    return (
        None if np.allclose(f(x, ref), numerical, atol=1e-7) else "it differs from a central difference of k3"
    )


PROBLEM = Problem(
    id="kl/k3_slope",
    title="Which KL does it really pull on?",
    function="k3_slope",
    reference=_reference,
    background=(
        "k3 = e⁻ᵛ - 1 + v estimates, from one sampled token, how far the policy πθ is from the frozen reference"
        " πref; v = log πθ - log πref. As a *value* it is right on average. But a penalty acts by its *slope*: the"
        " derivative with respect to log πθ says how hard each token's probability is pushed up or down. Averaged"
        " over tokens of the policy, this slope leads down KL(πref ‖ πθ), the divergence in the other"
        " direction, and not down the KL whose value k3 estimates. Only the slope shows it, so write it down."
    ),
    task=(
        "Write `k3_slope(log_probs, ref_log_probs)`: the derivative of k3 with respect to log πθ, for each token.\n\n"
        "    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref\n\n"
        "πθ is the probability of the sampled token under the policy, πref that under the reference; the inputs are"
        " their logarithms. The reference is frozen, so it is a constant. Where the policies are nearly equal, the"
        " slope is nearly v: do not lose it to rounding."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="∂k3/∂log πθ, of the shape of the inputs; a number for numbers.",
    notes=(
        "TRL, verl, RLinf and Open Instruct let automatic differentiation find this slope. In verl and RLinf it is"
        " 0 where v or the value is clamped."
    ),
    kernel="grpo_ref.k3",
    source="TRL `GRPOTrainer._compute_loss`, differentiated.",
    hints=(
        "v grows by one when log πθ does. What is the derivative of e⁻ᵛ?",
        "d/dv (e⁻ᵛ - 1 + v) = 1 - e⁻ᵛ.",
        "-np.expm1(-(log_probs - ref_log_probs))",
    ),
    checks=(
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
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "sign",
            _of(lambda v: np.expm1(-v)),
            "The sign is turned over: a token likelier than in the reference has a positive slope.",
        ),
        Mutant(
            "in the reference",
            _of(lambda v: np.expm1(v)),
            "v is turned over in the exponent: e⁻ᵛ, with v = log πθ - log πref.",
        ),
        Mutant(
            "slope of k2",
            _of(lambda v: v),
            "This is the slope of k2 = v²/2, which is the unbiased one, but k3 is asked for.",
        ),
        Mutant("slope of k1", _of(np.ones_like), "This is the slope of k1."),
        Mutant("value", _of(lambda v: np.expm1(-v) + v), "This is k3 itself."),
        Mutant("slope of the absolute value", _of(np.sign), "This is the slope of |v|."),
        Mutant(
            "rounded away",
            _of(lambda v: 1 - np.exp(-v)),
            "1 - exp(-v) loses small v to rounding; use np.expm1.",
        ),
        Mutant(
            "times the probability",
            lambda a, b: _reference(a, b) * np.exp(a),
            "There is no factor π: the slope is in log πθ.",
        ),
        Mutant(
            "constant forgotten", _of(lambda v: -np.exp(-v)), "The derivative of v itself, 1, is missing."
        ),
    ),
    others={"by the ratio": lambda a, b: -np.expm1(np.asarray(b, float) - np.asarray(a, float))},
)
