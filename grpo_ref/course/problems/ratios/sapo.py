"""A soft gate instead of a cliff."""

from typing import Any

import numpy as np

from grpo_ref import surrogates
from grpo_ref.course.grading.domain.arguments import Real, Scalar
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


def _reference(ratio: Any, advantages: Any, tau_positive: float = 1.0, tau_negative: float = 1.05) -> Any:
    log_ratio, advantages = np.log(np.asarray(ratio, dtype=float)), np.asarray(advantages, dtype=float)
    term = surrogates.sapo(log_ratio, advantages, tau_positive=tau_positive, tau_negative=tau_negative)
    return term.value, term.slope


def _of(value: Any = None, slope: Any = None, tau: Any = None) -> Function:
    def answer(ratio: Any, advantages: Any, tau_positive: float = 1.0, tau_negative: float = 1.05) -> Any:
        r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
        t = (tau or _tau)(a, tau_positive, tau_negative)
        p = 1.0 / (1.0 + np.exp(-t * (r - 1.0)))
        return (value or _value)(r, a, t, p), (slope or _slope)(r, a, t, p)

    return answer


def _tau(a: Any, positive: float, negative: float) -> Any:
    return np.where(a > 0, positive, negative)


def _value(r: Any, a: Any, t: Any, p: Any) -> Any:
    return 4.0 / t * p * a


def _slope(r: Any, a: Any, t: Any, p: Any) -> Any:
    return 4.0 * p / (1.0 + np.exp(t * (r - 1.0))) * r * a


def _gated_by_the_logarithm(ratio: Any, advantages: Any, positive: float, negative: float) -> Any:
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    t = _tau(a, positive, negative)
    p, q = 1.0 / (1.0 + r**-t), 1.0 / (1.0 + r**t)
    return 4.0 / t * p * a, 4.0 * p * q * r * a


def _on_policy(f: Function) -> str | None:
    slopes = [f(np.ones(2), np.array([1.5, -0.5]), t, 2.0 * t)[1] for t in (0.5, 1.0, 4.0)]
    same = all(np.allclose(np.asarray(slope), [1.5, -0.5], atol=1e-9) for slope in slopes)
    return None if same else "at a ratio of 1 the slope should be the advantage, whatever the temperatures"


PROBLEM = Problem(
    id="ratios/sapo",
    title="A soft gate instead of a cliff",
    function="sapo_surrogate",
    reference=_reference,
    background=(
        "The surrogate is what the policy (the language model) climbs, one value for each token; its slope says how hard a token pushes. PPO's clip is a cliff: a"
        " token pushes with full force as long as its ratio r = πθ/πold (how much likelier it has become) is within the bounds,"
        " and not at all beyond. SAPO puts a soft gate there: the push is full at r = 1 and fades with the distance"
        " from 1. The gate has a sharpness τ (a temperature) for good tokens, those with a positive advantage A (their completion was better than others), and another one for bad tokens."
    ),
    task=(
        "Write `sapo_surrogate(ratio, advantages, tau_positive=1.0, tau_negative=1.05)`, which returns two arrays: the"
        " surrogate s of each token, and its slope with respect to log r.\n\n"
        "    s = (4/τ) σ(τ (r - 1)) A,    σ(x) = 1 / (1 + exp(-x))\n"
        "    slope = ∂s / ∂log r\n\n"
        "τ is tau_positive where A > 0, and tau_negative elsewhere. Derive the slope by the chain rule, from\n\n"
        "    dσ/dx = σ(x) (1 - σ(x))    and    dr / d log r = r\n\n"
        "Both must be exact to the tolerance even where they are tiny. At r = 40, A = 1 and τ = 1 the slope is"
        " 1.8e-15 and not 0, though σ(39) is so close to 1 that 1 - σ(39) is computed as 0. In exact numbers it equals σ(-39), and that keeps its digits."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="A tuple (value, slope) of two arrays of the same shape, or of two numbers for numbers.",
    constraints="Both temperatures are positive; no input has to be refused.",
    notes=(
        "A larger τ is a sharper gate. The factor 4/τ makes the slope at r = 1 equal to A, whatever τ is. TRL and verl"
        " compute the value only and leave the slope to automatic differentiation."
    ),
    kernel="grpo_ref.sapo",
    source='SAPO (arXiv:2511.20347); TRL `loss_type="sapo"`, verl `compute_policy_loss_sapo`.',
    hints=(
        "Write p = σ(τ (r - 1)). What is dp/dr, and how does a derivative by r become one by log r?",
        "dp/dr = τ p (1 - p), and dr/d log r = r: two factors by the chain rule. Write 1 - p as σ(-τ (r - 1)).",
        "value = 4 / tau * p * A; slope = 4 * p * q * ratio * A with q = 1 / (1 + np.exp(tau * (ratio - 1)))",
    ),
    checks=(
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
        Holds(
            "At a ratio of 1 the slope is the advantage", _on_policy, why="that is what the factor 4/τ is for"
        ),
        Unchanged((np.array([1.5, 0.5]), np.array([1.0, -1.0]))),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "4/τ forgotten", _of(value=lambda r, a, t, p: p * a), "The factor 4/τ is missing in the value."
        ),
        Mutant(
            "τ forgotten in the value",
            _of(value=lambda r, a, t, p: 4.0 * p * a),
            "The value is divided by τ.",
        ),
        Mutant(
            "gate of the log-ratio",
            lambda r, a, tau_positive=1.0, tau_negative=1.05: _gated_by_the_logarithm(
                r, a, tau_positive, tau_negative
            ),
            "The gate looks at r - 1, not at log r.",
        ),
        Mutant(
            "slope first",
            lambda *inputs, **named: _reference(*inputs, **named)[::-1],
            "The value comes first, then the slope.",
        ),
        Mutant(
            "divided by τ",
            lambda r, a, tau_positive=1.0, tau_negative=1.05: _reference(
                r, a, 1 / tau_positive, 1 / tau_negative
            ),
            "The gate multiplies by τ; dividing makes a large τ soft instead of sharp.",
        ),
        Mutant(
            "temperatures swapped",
            lambda r, a, tau_positive=1.0, tau_negative=1.05: _reference(r, a, tau_negative, tau_positive),
            "tau_positive belongs to A > 0.",
        ),
        Mutant("one temperature", _of(tau=lambda a, x, y: x), "tau_negative is not used."),
        Mutant(
            "digits lost",
            _of(slope=lambda r, a, t, p: 4.0 * p * (1.0 - p) * r * a),
            "Far above 1 the slope loses its digits in 1 - σ(x); σ(-x) is the same number and keeps them.",
        ),
        Mutant(
            "slope in r",
            _of(slope=lambda r, a, t, p: _slope(r, a, t, p) / r),
            "This is the slope with respect to r; with respect to log r it is r times that.",
        ),
        Mutant(
            "slope is the value",
            _of(slope=_value),
            "The slope is not the value: the gate moves with the ratio.",
        ),
        Mutant(
            "slope of the ratio", _of(slope=lambda r, a, t, p: r * a), "This is the slope without a gate."
        ),
        Mutant(
            "a ratio inside",
            _of(value=lambda r, a, t, p: 4.0 / t * p * r * a),
            "The gate stands for the ratio; it is not multiplied by it once more.",
        ),
        Mutant(
            "gate turned over for bad tokens",
            _of(value=lambda r, a, t, p: 4.0 / t * np.where(a > 0, p, 1 - p) * a),
            "The gate is the same for both signs; only τ differs.",
        ),
        Mutant(
            "τ twice in the slope",
            _of(slope=lambda r, a, t, p: t * _slope(r, a, t, p)),
            "The τ of the chain rule cancels the one in 4/τ.",
        ),
    ),
    others={
        "the slope by a hyperbolic cosine": _of(
            slope=lambda r, a, t, p: r * a / np.cosh(0.5 * t * (r - 1.0)) ** 2,
        )
    },
)
