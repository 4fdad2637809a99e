"""Wrong answers to `kl/expected_gradient`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.kl.expected_gradient.tests import centered, reference
from grpo_ref.learning.policies.table import log_softmax


def _of(gradient=centered, **slopes):
    def answer(logits, ref_log_probs):
        lp, ref = log_softmax(np.asarray(logits, dtype=float)), np.asarray(ref_log_probs, dtype=float)
        probs, v = np.exp(lp), lp - ref
        products = {"kl": probs * v, "k1": probs, "k2": probs * v, "k3": probs - np.exp(ref)}
        products |= {name: probs * slope(v) for name, slope in slopes.items()}
        return {name: gradient(product, probs) for name, product in products.items()}

    return answer


WRONG = (
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
        lambda z, ref: reference(z, ref) | {"k1": reference(z, ref)["kl"]},
        "The sampling is not differentiated; only then k1's gradient is zero on average.",
    ),
    Mutant(
        "overflow",
        _of(k3=lambda v: 1 - np.exp(-v)),
        "e⁻ᵛ overflows where the policy all but excludes a token; its product with π is πref.",
    ),
    Mutant(
        "turned over",
        _of(lambda w, p: -centered(w, p)),
        "The sign is turned over: this is the way down.",
    ),
)
