"""Whose gradient is unbiased?"""

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
from grpo_ref.learning.policies.table import log_softmax

SLOPES = {"k2": penalties.k2, "k3": penalties.k3}


def _reference(logits: Any, ref_log_probs: Any) -> Any:
    log_probs, ref = log_softmax(np.asarray(logits, dtype=float)), np.asarray(ref_log_probs, dtype=float)
    expected = {name: _expected(log_probs, kernel(log_probs, ref).direct) for name, kernel in SLOPES.items()}
    return {"kl": penalties.exact_kl(log_probs, ref).slope} | expected | {"k1": np.zeros_like(log_probs)}


def _expected(log_probs: Any, slopes: Any) -> Any:
    probs = np.exp(log_probs)
    return probs * (slopes - (probs * slopes).sum())


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return rng.normal(size=size + 1), np.log(rng.dirichlet(np.ones(size + 1) * 3))


def _of(expected: Any = None, **slopes: Any) -> Function:
    def answer(logits: Any, ref_log_probs: Any) -> Any:
        lp, ref = log_softmax(np.asarray(logits, dtype=float)), np.asarray(ref_log_probs, dtype=float)
        v = lp - ref
        all_slopes = {"kl": v, "k1": np.ones_like(v), "k2": v, "k3": -np.expm1(-v)}
        all_slopes |= {name: slope(v) for name, slope in slopes.items()}
        return {name: (expected or _expected)(lp, slope) for name, slope in all_slopes.items()}

    return answer


def _k2_is_right(f: Function) -> str | None:
    got = f(np.array([0.3, -1.0, 0.5]), np.log(np.array([0.2, 0.5, 0.3])))
    return (
        None
        if np.allclose(got["k2"], got["kl"], atol=1e-9)
        else "k2's expected gradient should be that of the KL"
    )


PROBLEM = Problem(
    id="kl/expected_gradient",
    title="Whose gradient is unbiased?",
    function="expected_gradients",
    reference=_reference,
    background=(
        "A penalty trains by its gradient, not by its value. k1 is an unbiased estimate of the KL, and useless as a penalty:"
        " on average its gradient is zero. k2 is biased, and its gradient is exactly right. See it for yourself."
    ),
    task=(
        "Write `expected_gradients(logits, ref_log_probs)` for one state with V tokens and π = softmax(logits). For each"
        " estimator k, a trainer draws a token a from π and follows the slope of k at that token; on average that is\n\n"
        "    gₖ = Σₐ πₐ k'(vₐ) ∇ log πₐ,    vₐ = log πₐ - log πrefₐ,    ∇ log πₐ = (one-hot of a) - π\n\n"
        "with k1' = 1, k2' = v, k3' = 1 - e⁻ᵛ. Beside them, the true gradient of KL(π ‖ πref):\n\n"
        "    πₐ (vₐ - KL)"
    ),
    inputs="logits: (V,).\nref_log_probs: (V,) log-probabilities under the reference, in nats.",
    output='A dict with the keys "kl", "k1", "k2", "k3", each a (V,) array: a gradient with respect to the logits.',
    notes="The sampling itself is not differentiated: trainers draw the tokens first, then differentiate k at them.",
    source="Schulman 2020, Approximating KL divergence, for the estimators; verl and TRL discuss their gradients.",
    hints=(
        "Write the sum over a out for one entry b of the gradient: Σₐ πₐ sₐ (1[a = b] - π_b).",
        "That is π_b (s_b - Σₐ πₐ sₐ): the slope minus its mean, times the probability.",
        "def expected(slope): return probs * (slope - (probs * slope).sum()); and the KL's own gradient is expected(v).",
    ),
    checks=(
        Case(
            "A fair coin against 4 to 1",
            ([0.0, 0.0], np.log([0.8, 0.2])),
            {
                "kl": np.array([-1.0, 1.0]) * np.log(2.0) / 2,
                "k1": np.zeros(2),
                "k2": np.array([-1.0, 1.0]) * np.log(2.0) / 2,
                "k3": np.array([-0.3, 0.3]),
            },
            why="v = log 5/8 and log 5/2, whose half-difference is log 2; k3' = 1 - 8/5 = -0.6 and 1 - 2/5 = 0.6",
            shown=True,
        ),
        Case(
            "Equal policies",
            ([0.0, 0.0], np.log([0.5, 0.5])),
            dict.fromkeys(("kl", "k1", "k2", "k3"), np.zeros(2)),
            why="nothing pulls",
        ),
        Holds(
            "k2's is the true one", _k2_is_right, why="its slope v is the log-ratio in the KL's own gradient"
        ),
        Unchanged((np.array([0.3, -1.0]), np.log([0.5, 0.5]))),
        Drawn("Random policies agree", _draw, why="several vocabularies"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("k1's slope is v", _of(k1=lambda v: v), "The slope of k1 is 1, not its value v."),
        Mutant("k2's slope is its value", _of(k2=lambda v: v**2 / 2), "The slope of v²/2 is v."),
        Mutant("k2's slope is 2v", _of(k2=lambda v: 2 * v), "k2 has a half, so its slope is v."),
        Mutant(
            "k3's slope is its value",
            _of(k3=lambda v: np.expm1(-v) + v),
            "That is the value of k3; its slope is 1 - e⁻ᵛ.",
        ),
        Mutant("k3's sign", _of(k3=lambda v: np.expm1(-v)), "The sign of k3's slope is turned over."),
        Mutant("v in k3 turned over", _of(k3=lambda v: 1 - np.exp(v)), "It is e to the minus v."),
        Mutant(
            "not centered",
            _of(lambda lp, s: np.exp(lp) * s),
            "∇ log π is the one-hot vector minus π; the -π is missing.",
        ),
        Mutant(
            "uniform mean",
            _of(lambda lp, s: np.exp(lp) * (s - s.mean())),
            "The mean of the slopes is weighted by π.",
        ),
        Mutant(
            "not weighted",
            _of(lambda lp, s: s - (np.exp(lp) * s).sum()),
            "Tokens are drawn from π: their gradients are weighted by it.",
        ),
        Mutant(
            "gradient of the mean value",
            lambda z, ref: _reference(z, ref) | {"k1": _reference(z, ref)["kl"]},
            "The sampling is not differentiated; only then k1's gradient is zero on average.",
        ),
        Mutant(
            "turned over",
            _of(lambda lp, s: -_expected(lp, s)),
            "The sign is turned over: this is the way down.",
        ),
    ),
    others={
        "the sum over tokens": _of(
            lambda lp, s: sum(
                np.exp(lp[a]) * s[a] * (np.eye(len(lp))[a] - np.exp(lp)) for a in range(len(lp))
            )
        )
    },
)
