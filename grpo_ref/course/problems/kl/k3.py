"""The estimator that GRPO uses."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import (
    Case,
    Drawn,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.kernels import penalties


def _reference(log_probs: Any, ref_log_probs: Any) -> Any:
    return penalties.k3(np.asarray(log_probs, dtype=float), np.asarray(ref_log_probs, dtype=float)).value


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return tuple(np.log(rng.uniform(0.05, 1.0, (2, 2, size))))


def _unbiased(f: Function) -> str | None:
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    same = abs((p * f(np.log(p), np.log(q))).sum() - (p * np.log(p / q)).sum()) < 1e-9
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
    background="A trainer sees only the sampled token. Schulman's k3 estimates the KL from it: unbiased, and never negative.",
    task="Write `k3(log_probs, ref_log_probs)`, one estimate per token:\n\n    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref",
    inputs="log_probs, ref_log_probs: log-probabilities of the sampled tokens, of the same shape, in nats.",
    output="An array of the same shape, in nats.",
    constraints="Near v = 0 the value is v²/2: e⁻ᵛ - 1 must not lose it to rounding.",
    source="Schulman 2020, Approximating KL divergence; DeepSeekMath, eq. 4 (arXiv:2402.03300).",
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
            why="1/2 - 1 + log 2",
            shown=True,
        ),
        Case("Half as much", (np.log([0.25]), np.log([0.5])), 1 - np.log([2.0]), why="2 - 1 - log 2"),
        Case("Equal policies", (np.log([0.3]), np.log([0.3])), np.zeros(1), why="1 - 1 + 0"),
        Case(
            "Nearly equal policies",
            (np.array([1e-7]), np.zeros(1)),
            np.array([5e-15 - 1e-21 / 6]),
            why="v²/2 - v³/6 at v = 1e-7; exp(-v) - 1 loses it",
        ),
        Holds(
            "It is unbiased",
            _unbiased,
            why="Σ π k3 = Σ π (πref/π - 1 + log π/πref), and the first two cancel",
        ),
        Holds("It is never negative", _never_negative, why="e⁻ᵛ is above its tangent 1 - v"),
        Unchanged((np.log([0.5, 0.25]), np.log([0.25, 0.5]))),
        Drawn("Random tokens agree", _draw, why="both directions"),
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
            [np.expm1(y - x) + x - y for x, y in zip(np.ravel(a), np.ravel(b), strict=True)]
        ).reshape(np.shape(a))
    },
)
