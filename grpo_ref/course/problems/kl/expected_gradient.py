"""Whose gradient is unbiased?"""

from typing import Any

import numpy as np

from grpo_ref import penalties
from grpo_ref.arrays import Floats
from grpo_ref.course.grading.domain.arguments import Real
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import LEVELS, MIXED, OFFSET_ROWS, Pattern
from grpo_ref.course.grading.domain.source import Source
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
from grpo_ref.learning.policies.table import log_softmax


def _log_probabilities(source: Source, values: Floats) -> Floats:
    """Convert the sampled numbers, as logits, to log-probabilities."""
    return log_softmax(values)


def _flatter(source: Source, values: Floats) -> Floats:
    """Convert a hundredth of the sampled numbers, as logits, to log-probabilities."""
    return log_softmax(values / 100.0)


LOG_PROBABILITIES = Pattern("logarithms of probabilities", _log_probabilities)
FLATTER = Pattern("logarithms of nearly equal probabilities", _flatter)
DOMAIN = Domain(
    {
        "logits": Real(
            "V",
            (-1000, 1000),
            usual=((-2, 2), (-5, 5), (-20, 20)),
            at=(800, -800),
            rows=(MIXED, LEVELS, OFFSET_ROWS),
            meaning="of the V tokens in this state",
        ),
        "ref_log_probs": Real(
            "V",
            (-900, 0),
            usual=((-0.01, 0.01), (-2, 2), (-5, 5), (-30, 30)),
            near="logits",
            rows=(LOG_PROBABILITIES, FLATTER),
            whole=False,
            meaning="log πref in nats; the probabilities sum to 1",
        ),
    },
    sizes={"V": (2, 5)},
    large={"V": 80},
)


def _reference(logits: Any, ref_log_probs: Any) -> Any:
    log_probs, ref = log_softmax(np.asarray(logits, dtype=float)), np.asarray(ref_log_probs, dtype=float)
    probs = np.exp(log_probs)
    return {
        "kl": penalties.exact_kl(log_probs, ref).slope,
        "k1": np.zeros_like(probs),
        "k2": _centered(probs * penalties.k2(log_probs, ref).direct, probs),
        "k3": _centered(probs - np.exp(ref), probs),
    }


def _centered(weighted: Any, probs: Any) -> Any:
    """Return π (s - Σ π s) from the products π s, which are finite even if a slope s is not."""
    return weighted - probs * weighted.sum()


def _of(gradient: Any = _centered, **slopes: Any) -> Function:
    def answer(logits: Any, ref_log_probs: Any) -> Any:
        lp, ref = log_softmax(np.asarray(logits, dtype=float)), np.asarray(ref_log_probs, dtype=float)
        probs, v = np.exp(lp), lp - ref
        products = {"kl": probs * v, "k1": probs, "k2": probs * v, "k3": probs - np.exp(ref)}
        products |= {name: probs * slope(v) for name, slope in slopes.items()}
        return {name: gradient(product, probs) for name, product in products.items()}

    return answer


def _without_maximum(logits: Any, ref_log_probs: Any) -> Any:
    """Return the logarithm of the sum in one step: less accurate for large logits, but still right."""
    z, ref = np.asarray(logits, dtype=float), np.asarray(ref_log_probs, dtype=float)
    log_probs = z - np.logaddexp.reduce(z)
    probs = np.exp(log_probs)
    push = probs * (log_probs - ref - probs @ (log_probs - ref))
    return {"kl": push, "k1": probs - probs * probs.sum(), "k2": push, "k3": probs - np.exp(ref)}


def _token_by_token(weighted: Any, probs: Any) -> Any:
    return sum(w * (one_hot - probs) for w, one_hot in zip(weighted, np.eye(len(probs)), strict=True))


def _k2_is_right(f: Function) -> str | None:
    got = f(np.array([0.3, -1.0, 0.5]), np.log(np.array([0.2, 0.5, 0.3])))
    return (
        None
        if np.allclose(np.asarray(got["k2"]), np.asarray(got["kl"]), atol=1e-9)
        else "k2's expected gradient should be that of the KL"
    )


PROBLEM = Problem(
    id="kl/expected_gradient",
    title="Whose gradient is unbiased?",
    function="expected_gradients",
    reference=_reference,
    background=(
        "k1, k2 and k3 estimate from one sampled token how far the policy π is from the frozen reference πref. A"
        " trainer adds such an estimate to its loss, as a penalty, and follows its gradient. But being right on"
        " average as a *value* says nothing of the *gradient*: k1 is right on average, and as a penalty useless,"
        " because on average its gradient is zero. k2 is not right on average, and its gradient is exactly that of"
        " the KL. k3, which most trainers use, is right on average too, and its gradient is that of KL(πref ‖ π),"
        " another divergence. In a single state with few tokens the averages can be written out, and you can see"
        " it for yourself."
    ),
    task=(
        "Write `expected_gradients(logits, ref_log_probs)` for one state with V tokens and π = softmax(logits).\n\n"
        "A trainer draws a token a from π and follows the slope k'(vₐ) of an estimator k at that token:"
        " the logits move along k'(vₐ) ∇ log πₐ. On average over the tokens drawn this is\n\n"
        "    gₖ = Σₐ πₐ k'(vₐ) ∇ log πₐ,    vₐ = log πₐ - log πrefₐ,    ∇ log πₐ = (one-hot of a) - π\n\n"
        "    k1' = 1,    k2' = v,    k3' = 1 - e⁻ᵛ\n\n"
        "The one-hot vector of a is 1 at a and 0 elsewhere; ∇ is the gradient with respect to the V logits. Beside"
        " these three give the true gradient of KL(π ‖ πref) = Σₐ πₐ vₐ, whose entry a is\n\n"
        "    πₐ (vₐ - KL)\n\n"
        "Logits may lie a thousand or more apart. Then π has entries that round to 0 and e⁻ᵛ overflows, but π e⁻ᵛ"
        " does not: every gradient is finite, and an entry of k3 need not be 0 where π is 0."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output=(
        'A dict with the keys "kl", "k1", "k2" and "k3", each a (V,) array: a gradient with respect to the logits.'
        " Its sign is that of the formulas, so it leads uphill."
    ),
    notes=(
        "The drawing itself is not differentiated: trainers draw the tokens first, then differentiate k at them."
        " TRL, and verl with low_var_kl, use k3; verl can combine any value with the gradient of k2."
    ),
    source="Schulman 2020, Approximating KL divergence; verl `kl_penalty`; TRL `GRPOTrainer._compute_loss`.",
    hints=(
        "Write the sum over a out for one entry b of the gradient: Σₐ πₐ sₐ (1[a = b] - π_b). What is left of it?",
        "π_b s_b - π_b Σₐ πₐ sₐ. So all you need are the products π s; for k3, π e⁻ᵛ is πref.",
        "def g(products): return products - probs * products.sum(); k2 is g(probs * v), k3 is g(probs - np.exp(ref)).",
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
            why=(
                "π = 1/2, 1/2, so v = log 5/8 and log 5/2. Their mean, the KL, is log 5/4: v - KL = -log 2 and log 2,"
                " times π = 1/2 that is -0.347 and 0.347. k3' is 1 - 8/5 = -0.6 and 1 - 2/5 = 0.6 with mean 0."
            ),
            shown=True,
        ),
        Case(
            "A token that the policy never draws",
            ([0.0, -800.0], np.log([0.75, 0.25])),
            {"kl": np.zeros(2), "k1": np.zeros(2), "k2": np.zeros(2), "k3": np.array([0.25, -0.25])},
            why="π is 1 and 0, so k3 has π - πref, although e⁻ᵛ overflows at the second token",
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
        FromDomain(),
        *found_cases(__file__),
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
            _of(lambda w, p: w),
            "∇ log π is the one-hot vector minus π; the -π is missing.",
        ),
        Mutant(
            "uniform mean",
            _of(lambda w, p: w - p * np.mean(w / p)),
            "The mean of the slopes is weighted by π.",
        ),
        Mutant(
            "not weighted",
            _of(lambda w, p: w / p - w.sum()),
            "Tokens are drawn from π: their gradients are weighted by it.",
        ),
        Mutant(
            "gradient of the mean value",
            lambda z, ref: _reference(z, ref) | {"k1": _reference(z, ref)["kl"]},
            "The sampling is not differentiated; only then k1's gradient is zero on average.",
        ),
        Mutant(
            "overflow",
            _of(k3=lambda v: 1 - np.exp(-v)),
            "e⁻ᵛ overflows where the policy all but excludes a token; its product with π is πref.",
        ),
        Mutant(
            "turned over",
            _of(lambda w, p: -_centered(w, p)),
            "The sign is turned over: this is the way down.",
        ),
    ),
    others={
        "the sum over tokens": _of(_token_by_token),
        "no maximum taken off": _without_maximum,
    },
)
