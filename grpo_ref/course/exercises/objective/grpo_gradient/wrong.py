"""Wrong answers to `objective/grpo_gradient`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.objective.grpo_gradient.tests import reference


def surrogate_slope(r, a, e):
    return np.where(((a > 0) & (r > 1 + e)) | ((a < 0) & (r < 1 - e)), 0.0, r * a)


def k3_slope(v):
    return -np.expm1(-v)


def sequence_weights(m):
    return m / m.sum(-1, keepdims=True) / len(m)


def variant(slope=surrogate_slope, penalty=k3_slope, weights=sequence_weights, sign=-1.0):
    """Return the formula with another slope (r, A, ε), penalty (v), weights (mask) or sign."""

    def answer(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
        m = np.asarray(mask, dtype=float)
        lp, old, ref = (np.where(m > 0, x, 0.0) for x in (log_probs, old_log_probs, ref_log_probs))
        a = np.asarray(advantages, dtype=float)[:, None]
        return sign * weights(m) * (slope(np.exp(lp - old), a, clip) - kl_coef * penalty(lp - ref))

    return answer


def padding_times_zero(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    lp, old, ref, m = (np.asarray(x, dtype=float) for x in (log_probs, old_log_probs, ref_log_probs, mask))
    a = np.asarray(advantages, dtype=float)[:, None]
    return -sequence_weights(m) * (surrogate_slope(np.exp(lp - old), a, clip) - kl_coef * k3_slope(lp - ref))


WRONG = (
    Mutant("sign", variant(sign=1.0), "Returns the gradient of the objective; the loss has a minus sign."),
    Mutant(
        "never clipped",
        variant(lambda r, a, e: r * a),
        "Gives clipped tokens the slope r A; their slope is 0.",
    ),
    Mutant(
        "only inside the bounds",
        variant(lambda r, a, e: np.where(abs(r - 1) > e, 0.0, r * a)),
        "Gives every token outside the bounds the slope 0; a bad token above 1+ε is not clipped.",
    ),
    Mutant(
        "max for min",
        variant(lambda r, a, e: np.where(((a < 0) & (r > 1 + e)) | ((a > 0) & (r < 1 - e)), 0.0, r * a)),
        "Takes the slope of the larger of the two products; the surrogate is the smaller.",
    ),
    Mutant(
        "zero on the bound",
        variant(lambda r, a, e: np.where(((a > 0) & (r >= 1 + e)) | ((a < 0) & (r <= 1 - e)), 0.0, r * a)),
        "Gives tokens exactly on a bound the slope 0; their slope is r A.",
    ),
    Mutant(
        "ratio forgotten",
        variant(lambda r, a, e: np.where(surrogate_slope(r, a, e) == 0, 0.0, a)),
        "Uses A as the slope of r A; dr/d log πθ is r, not 1.",
    ),
    Mutant(
        "the value for the slope",
        variant(lambda r, a, e: np.minimum(r * a, np.clip(r, 1 - e, 1 + e) * a)),
        "Uses the value of the surrogate as its slope; a clipped token has a value, but the slope 0.",
    ),
    Mutant("penalty forgotten", variant(penalty=np.zeros_like), "Omits the slope of the penalty."),
    Mutant(
        "penalty with the wrong sign",
        variant(penalty=lambda v: -k3_slope(v)),
        "Gives the slope of the penalty the wrong sign: it pushes the policy away from πref.",
    ),
    Mutant(
        "v turned around",
        variant(penalty=lambda v: np.expm1(v)),
        "Uses v = log πref - log πθ in the penalty; v is log πθ - log πref.",
    ),
    Mutant(
        "the slope of e⁻ᵛ alone",
        variant(penalty=lambda v: -np.exp(-v)),
        "Uses the slope -e⁻ᵛ for k3; the 1 is missing.",
    ),
    Mutant(
        "penalty of k1", variant(penalty=np.ones_like), "Uses 1, the slope of k1; k3 has the slope 1 - e⁻ᵛ."
    ),
    Mutant(
        "penalty of k2", variant(penalty=lambda v: v), "Uses v, the slope of k2; k3 has the slope 1 - e⁻ᵛ."
    ),
    Mutant(
        "the value of the penalty",
        variant(penalty=lambda v: np.expm1(-v) + v),
        "Uses the value of k3 as its slope; the slope is 1 - e⁻ᵛ.",
    ),
    Mutant(
        "token mean",
        variant(weights=lambda m: m / m.sum()),
        "Divides by the number of all tokens; every completion has its own mean first.",
    ),
    Mutant(
        "not divided by N",
        variant(weights=lambda m: m / m.sum(-1, keepdims=True)),
        "Sums over the completions without dividing by N.",
    ),
    Mutant(
        "not divided by the length",
        variant(weights=lambda m: m / len(m)),
        "Sums over the tokens of a completion without dividing by their number.",
    ),
    Mutant(
        "padded mean", variant(weights=lambda m: m / m.size), "Divides by T, so padding counts as tokens."
    ),
    Mutant("not averaged", variant(weights=lambda m: m), "Divides neither by the number of tokens nor by N."),
    Mutant(
        "padding counted",
        variant(weights=lambda m: np.ones_like(m) / m.sum(-1, keepdims=True) / len(m)),
        "Returns numbers other than 0 on padding.",
    ),
    Mutant(
        "padding times zero",
        padding_times_zero,
        "Returns NaN where the padding holds NaN or infinity; multiplying by 0 does not remove it.",
    ),
    Mutant(
        "clip ignored",
        lambda lp, old, ref, a, m, clip=0.2, kl_coef=0.04: reference(lp, old, ref, a, m, 0.2, kl_coef),
        "Ignores the argument `clip`.",
    ),
    Mutant(
        "kl_coef ignored",
        lambda lp, old, ref, a, m, clip=0.2, kl_coef=0.04: reference(lp, old, ref, a, m, clip, 0.04),
        "Ignores the argument `kl_coef`.",
    ),
)
