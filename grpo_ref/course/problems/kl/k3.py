"""The estimator that GRPO uses."""

from typing import Any

import numpy as np

from grpo_ref import penalties
from grpo_ref.course.grading.domain.domain import Domain, Rule
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


def _is_tiny(v: Any) -> Any:
    return (v != 0.0) & (np.abs(v) < 1e-5)


DOMAIN = Domain(
    log_probs_of_both(1e-5),
    sizes=SIZES,
    large=LARGE,
    rules=(
        Rule(
            "log_probs - ref_log_probs is 0, or at least 1e-5 in size.",
            lambda values: not _is_tiny(np.subtract(values["log_probs"], values["ref_log_probs"])).any(),
        ),
        NO_OVERFLOW,
    ),
)


def _reference(log_probs: Any, ref_log_probs: Any) -> Any:
    return penalties.k3(np.asarray(log_probs, dtype=float), np.asarray(ref_log_probs, dtype=float)).value


def _unbiased(f: Function) -> str | None:
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    same = abs((p * np.asarray(f(np.log(p), np.log(q)))).sum() - (p * np.log(p / q)).sum()) < 1e-9
    return None if same else "averaged over tokens drawn from the policy it should be KL(π ‖ πref)"


def _never_negative(f: Function) -> str | None:
    log_probs, ref = np.log(np.array([0.9, 0.5, 0.1])), np.log(np.array([0.1, 0.5, 0.9]))
    return None if (np.asarray(f(log_probs, ref)) >= -1e-15).all() else "no value should be negative"


def _of(formula: Any) -> Function:
    return lambda log_probs, ref_log_probs: formula(
        np.asarray(log_probs, float) - np.asarray(ref_log_probs, float)
    )


PROBLEM = Problem(
    id="kl/k3",
    title="A KL from one token",
    function="k3",
    reference=_reference,
    background=(
        "A trainer wants to know how far the policy πθ has moved from the frozen reference πref, which the KL"
        " measures, but it sees only the sampled token with its two log-probabilities. The log-ratio of the two is"
        " right on average and negative for every other token or so; its half square is never negative and not"
        " right on average. Schulman's third estimate has both virtues. To the log-ratio it adds πref/πθ - 1,"
        " which is 0 on average over tokens drawn from the policy and takes most of the swings away. It is the"
        " penalty of the GRPO paper."
    ),
    task=(
        "Write `k3(log_probs, ref_log_probs)`, one estimate per token:\n\n"
        "    v = log πθ - log πref,    k3 = e⁻ᵛ - 1 + v\n\n"
        "πθ is the probability of the sampled token under the policy, πref that under the reference; the inputs are"
        " their logarithms. Nothing is averaged or clipped.\n\n"
        "For nearly equal policies v is small and k3 is about v²/2, far smaller still. There e⁻ᵛ is a number near 1,"
        " and rounding it costs most of the digits that are left after 1 is taken off. Your answer has to keep"
        " them: at v = 1e-5 the value 5e-11 must be right to nine digits."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="An array of the shape of the inputs, in nats; a number for numbers. No value is negative.",
    notes=(
        "TRL computes it as it stands here. verl and RLinf limit v to ±20 and the value to ±10, Open Instruct"
        " limits v to ±40."
    ),
    kernel="grpo_ref.k3",
    source="Schulman 2020, Approximating KL divergence, k3; DeepSeekMath, eq. 4 (arXiv:2402.03300).",
    hints=(
        "Which of the two log-probabilities stands in the exponent with a plus sign?",
        "np.expm1(x) is exp(x) - 1 without the rounding.",
        "v = log_probs - ref_log_probs; np.expm1(-v) + v",
    ),
    checks=(
        Case(
            "The policy likes it twice as much",
            (np.log([0.5]), np.log([0.25])),
            np.log([2.0]) - 0.5,
            why="v = log 0.5 - log 0.25 = log 2, so e⁻ᵛ = 1/2 and k3 = 1/2 - 1 + log 2 = 0.193.",
            shown=True,
        ),
        Case("Half as much", (np.log([0.25]), np.log([0.5])), 1 - np.log([2.0]), why="2 - 1 - log 2"),
        Case("Equal policies", (np.log([0.3]), np.log([0.3])), np.zeros(1), why="1 - 1 + 0"),
        Case(
            "Nearly equal policies",
            (np.array([-5e-10]), np.array([-1.00005e-5])),
            np.array([5e-11 - 1e-15 / 6]),
            why="v²/2 - v³/6 at v = 1e-5; exp(-v) - 1 loses it",
        ),
        Case(
            "A little apart",
            ([0.0], [-0.008]),
            np.array([0.008**2 / 2 - 0.008**3 / 6 + 0.008**4 / 24 - 0.008**5 / 120 + 0.008**6 / 720]),
            why="v = 0.008, five terms of the series: three are not enough for nine digits",
        ),
        Holds(
            "It is unbiased",
            _unbiased,
            why="Σ π k3 = Σ π (πref/π - 1 + log π/πref), and the first two cancel",
        ),
        Holds("It is never negative", _never_negative, why="e⁻ᵛ is above its tangent 1 - v"),
        Unchanged((np.log([0.5, 0.25]), np.log([0.25, 0.5]))),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("sign of v", _of(lambda v: np.expm1(v) - v), "v is turned over: log πθ - log πref."),
        Mutant("k1", _of(lambda v: v), "This is k1, the log-ratio itself: it can be negative."),
        Mutant("k2", _of(lambda v: v**2 / 2), "This is k2, half the square: it is biased."),
        Mutant("absolute", _of(np.abs), "This is the absolute log-ratio."),
        Mutant(
            "without -1", _of(lambda v: np.exp(-v) + v), "The -1 is missing: equal policies should give 0."
        ),
        Mutant("minus v", _of(lambda v: np.expm1(-v) - v), "v is added, not subtracted."),
        Mutant(
            "rounded away",
            _of(lambda v: np.exp(-v) - 1.0 + v),
            "exp(-v) - 1 loses small v to rounding; use np.expm1.",
        ),
        Mutant("mean", lambda a, b: _reference(a, b).mean(), "One estimate per token is asked for."),
        Mutant(
            "of probabilities",
            lambda a, b: _reference(np.exp(a), np.exp(b)),
            "The inputs are log-probabilities already.",
        ),
        Mutant("clamped", _of(lambda v: np.minimum(np.expm1(-v) + v, 0.5)), "Nothing is clamped here."),
    ),
    others={
        "with a branch": lambda a, b: np.array(
            [np.expm1(y - x) + (x - y) for x, y in zip(np.ravel(a), np.ravel(b), strict=True)]
        ).reshape(np.shape(a))
    },
)
