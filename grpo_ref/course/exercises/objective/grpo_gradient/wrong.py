"""Wrong answers to `objective/grpo_gradient`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.objective.grpo_gradient.tests import reference


def _of(slope=None, kl=None, weight=None, sign=-1.0):
    def answer(
        log_probs,
        old_log_probs,
        ref_log_probs,
        advantages,
        mask,
        clip=0.2,
        kl_coef=0.04,
    ):
        m = np.asarray(mask, dtype=float)
        lp, old, ref = (np.where(m > 0, x, 0.0) for x in (log_probs, old_log_probs, ref_log_probs))
        a = np.asarray(advantages, dtype=float)[:, None] * m
        total = (slope or _slope)(np.exp(lp - old), a, clip) - kl_coef * (kl or _kl)(lp - ref)
        return sign * (weight or _weight)(m) * total

    return answer


def _slope(r, a, e):
    return np.where(((a > 0) & (r > 1 + e)) | ((a < 0) & (r < 1 - e)), 0.0, r * a)


def _kl(v):
    return -np.expm1(-v)


def _weight(m):
    return m / m.sum(-1, keepdims=True) / len(m)


WRONG = (
    Mutant("sign", _of(sign=1.0), "The sign is turned over: this is the gradient of the objective."),
    Mutant("never clipped", _of(slope=lambda r, a, e: r * a), "A clipped token has no slope."),
    Mutant(
        "only inside the band",
        _of(slope=lambda r, a, e: np.where(abs(r - 1) > e, 0.0, r * a)),
        "Outside the band a token still has a slope if its advantage calls it back.",
    ),
    Mutant(
        "held on the bound",
        _of(slope=lambda r, a, e: np.where(((a > 0) & (r >= 1 + e)) | ((a < 0) & (r <= 1 - e)), 0.0, r * a)),
        "On the bound itself the token still has its slope: only beyond it the clip holds.",
    ),
    Mutant(
        "ratio forgotten",
        _of(slope=lambda r, a, e: np.where(_slope(r, a, e) == 0, 0.0, a)),
        "dr/d log πθ is r, not 1.",
    ),
    Mutant(
        "the value for the slope",
        _of(slope=lambda r, a, e: np.minimum(r * a, np.clip(r, 1 - e, 1 + e) * a)),
        "This is the value of the surrogate: a clipped token has a value, but no slope.",
    ),
    Mutant("penalty forgotten", _of(kl=lambda v: 0 * v), "The penalty has a slope as well."),
    Mutant(
        "penalty with the wrong sign",
        _of(kl=lambda v: np.expm1(-v)),
        "The penalty's slope has the wrong sign: it pushes away from the reference.",
    ),
    Mutant("penalty of k1", _of(kl=lambda v: np.ones_like(v)), "This is the slope of k1; k3's is 1 - e⁻ᵛ."),
    Mutant("penalty of k2", _of(kl=lambda v: v), "This is the slope of k2; k3's is 1 - e⁻ᵛ."),
    Mutant(
        "the penalty's value",
        _of(kl=lambda v: np.expm1(-v) + v),
        "This is the value of k3, not its slope.",
    ),
    Mutant(
        "token mean",
        _of(weight=lambda m: m / m.sum()),
        "Every completion counts the same: divide by its own length, then by N.",
    ),
    Mutant(
        "not divided by N",
        _of(weight=lambda m: m / m.sum(-1, keepdims=True)),
        "The mean over the completions is missing.",
    ),
    Mutant(
        "padded length", _of(weight=lambda m: m / m.size), "It divides by T, not by the number of tokens."
    ),
    Mutant(
        "clip fixed",
        lambda lp, old, ref, a, m, clip=0.2, kl_coef=0.04: reference(lp, old, ref, a, m, 0.2, kl_coef),
        "The argument clip is not used.",
    ),
)
