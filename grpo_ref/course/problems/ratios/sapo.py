"""A soft gate instead of a cliff."""

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
from grpo_ref.kernels import surrogates


def _reference(ratio: Any, advantages: Any, tau_positive: float = 1.0, tau_negative: float = 1.05) -> Any:
    log_ratio, advantages = np.log(np.asarray(ratio, dtype=float)), np.asarray(advantages, dtype=float)
    term = surrogates.sapo(log_ratio, advantages, tau_positive=tau_positive, tau_negative=tau_negative)
    return term.value, term.slope


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    ratio = rng.uniform(0.2, 2.5, (2, size))
    return ratio, rng.normal(size=ratio.shape), rng.uniform(0.5, 3.0), rng.uniform(0.5, 3.0)


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
    return 4.0 * p * (1.0 - p) * r * a


def _on_policy(f: Function) -> str | None:
    slopes = [f(np.ones(2), np.array([1.5, -0.5]), t, 2.0 * t)[1] for t in (0.5, 1.0, 4.0)]
    same = all(np.allclose(slope, [1.5, -0.5], atol=1e-9) for slope in slopes)
    return None if same else "at a ratio of 1 the slope should be the advantage, whatever the temperatures"


PROBLEM = Problem(
    id="ratios/sapo",
    title="A soft gate instead of a cliff",
    function="sapo_surrogate",
    reference=_reference,
    background=(
        "Across PPO's bound the slope falls to 0 at once. SAPO lets it fade: full at a ratio of 1, small far away,"
        " and with its own sharpness for good and for bad tokens."
    ),
    task=(
        "Write `sapo_surrogate(ratio, advantages, tau_positive=1.0, tau_negative=1.05)`, which returns value and slope:\n\n"
        "    s = (4/τ) σ(τ (r - 1)) A,    σ(x) = 1 / (1 + e⁻ˣ),    τ = tau_positive where A > 0, else tau_negative\n"
        "    slope = ∂s / ∂log r"
    ),
    inputs="ratio: r = πθ/πold, positive.\nadvantages: A, of the same shape.\ntau_positive, tau_negative: sharpness of the gate; larger is sharper.",
    output="A tuple (value, slope) of two arrays of the same shape.",
    notes="The slope is with respect to log r, which is the slope with respect to log πθ: dr / d log r = r.",
    source='SAPO (arXiv:2511.20347); TRL `loss_type="sapo"`, verl `compute_policy_loss_sapo`.',
    hints=(
        "Write p = σ(τ (r - 1)). What is dp/dr?",
        "dp/dr = τ p (1 - p), and dr/d log r = r: two factors by the chain rule.",
        "value = 4 / tau * p * A; slope = 4 * p * (1 - p) * ratio * A",
    ),
    checks=(
        Case(
            "On policy",
            ([1.0, 1.0], [3.0, -3.0], 2.0, 4.0),
            (np.array([3.0, -1.5]), np.array([3.0, -3.0])),
            why="the gate is 1/2: values 4/2 · 1/2 · 3 and 4/4 · 1/2 · -3; slopes 4 · 1/4 · A",
            shown=True,
        ),
        Case(
            "A ratio of two",
            ([2.0], [1.0], np.log(3.0)),
            (np.array([3.0]) / np.log(3.0), np.array([1.5])),
            why="σ(log 3) = 3/4: value 4/log 3 · 3/4, slope 4 · 3/16 · 2",
        ),
        Holds(
            "At a ratio of 1 the slope is the advantage", _on_policy, why="that is what the factor 4/τ is for"
        ),
        Unchanged((np.array([1.5, 0.5]), np.array([1.0, -1.0]))),
        Drawn("Random tokens agree", _draw, why="both signs, two temperatures"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "4/τ forgotten", _of(value=lambda r, a, t, p: p * a), "The factor 4/τ is missing in the value."
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
            "slope in r",
            _of(slope=lambda r, a, t, p: 4.0 * p * (1.0 - p) * a),
            "This is the slope with respect to r; with respect to log r it is r times that.",
        ),
        Mutant(
            "slope is the value",
            _of(slope=lambda r, a, t, p: 4.0 / t * p * a),
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
            _of(slope=lambda r, a, t, p: 4.0 * t * p * (1.0 - p) * r * a),
            "The τ of the chain rule cancels the one in 4/τ.",
        ),
    ),
    others={"the gate as a tanh": _of(value=lambda r, a, t, p: 2.0 / t * (1 + np.tanh(t * (r - 1) / 2)) * a)},
)
