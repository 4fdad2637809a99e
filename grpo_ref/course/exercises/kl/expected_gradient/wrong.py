"""Wrong answers to `kl/expected_gradient`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.kl.expected_gradient.tests import centered, reference
from grpo_ref.learning.policies.table import log_softmax


def _with(gradient=centered, **slopes):
    """Return an answer with another formula for all gradients, or with other slopes of v.

    Args:
      gradient: function of the products π k' and of π.
      slopes: slope as a function of v, by name of the estimate.
    """

    def answer(logits, ref_log_probs):
        log_probs = log_softmax(np.asarray(logits, dtype=float))
        ref = np.asarray(ref_log_probs, dtype=float)
        probs, v = np.exp(log_probs), log_probs - ref
        products = {"kl": probs * v, "k1": probs, "k2": probs * v, "k3": probs - np.exp(ref)}
        products |= {name: probs * slope(v) for name, slope in slopes.items()}
        return {name: gradient(product, probs) for name, product in products.items()}

    return answer


def _replaced(change):
    """Return an answer that changes the dict of the right gradients."""

    def answer(logits, ref_log_probs):
        right = reference(logits, ref_log_probs)
        return right | change(right)

    return answer


def _without_kl_subtracted(logits, ref_log_probs):
    log_probs = log_softmax(np.asarray(logits, dtype=float))
    return reference(logits, ref_log_probs) | {"kl": np.exp(log_probs) * (log_probs - ref_log_probs)}


def _equal_weights(logits, ref_log_probs):
    right = reference(logits, ref_log_probs)
    log_probs = log_softmax(np.asarray(logits, dtype=float))
    probs, v = np.exp(log_probs), log_probs - np.asarray(ref_log_probs, dtype=float)
    slopes = {"k1": np.ones_like(v), "k2": v, "k3": 1 - np.exp(-v)}
    return right | {name: slope / v.size - probs * slope.mean() for name, slope in slopes.items()}


WRONG = (
    Mutant(
        "slope v for k1",
        _with(k1=lambda v: v),
        'Returns the gradient of the KL as "k1", as if the slope of k1 were v; the slope is 1.',
    ),
    Mutant(
        "value for slope of k2",
        _with(k2=lambda v: v**2 / 2),
        "Uses the value v² / 2 as the slope of k2, which is v.",
    ),
    Mutant("slope 2v for k2", _with(k2=lambda v: 2 * v), "Uses 2v as the slope of k2, which is v."),
    Mutant(
        "value for slope of k3",
        _with(k3=lambda v: np.expm1(-v) + v),
        "Uses the value of k3 as its slope, which is 1 - e⁻ᵛ.",
    ),
    Mutant(
        "opposite sign of k3",
        _replaced(lambda right: {"k3": -right["k3"]}),
        'Returns the gradient of "k3" with the opposite sign.',
    ),
    Mutant(
        "exponent without its sign",
        _with(k3=lambda v: 1 - np.exp(v)),
        "Uses 1 - eᵛ as the slope of k3; the minus sign of the exponent is missing.",
    ),
    Mutant(
        "-π forgotten",
        _with(lambda products, probs: products),
        "Returns π k' for every estimate, and π v for the KL; the -π of ∇ log π and the -KL are missing.",
    ),
    Mutant(
        "-KL forgotten",
        _without_kl_subtracted,
        'Returns π v for "kl"; KL is not subtracted from v.',
    ),
    Mutant(
        "plain mean subtracted",
        _with(lambda products, probs: products - probs * np.mean(products / probs)),
        "Subtracts the plain mean of the slopes; their mean is weighted by π.",
    ),
    Mutant(
        "equal weights",
        _equal_weights,
        "Averages the gradients of the tokens with equal weights 1/V; the weights are π.",
    ),
    Mutant(
        "without the factor π",
        _with(lambda products, probs: products / probs - products.sum()),
        "Returns k' - Σ π k'; the factor π in front is missing.",
    ),
    Mutant(
        "gradient of the KL for k3",
        _replaced(lambda right: {"k3": right["kl"]}),
        'Returns the gradient of the KL as "k3"; the slope of k3 is 1 - e⁻ᵛ.',
    ),
    Mutant(
        "gradient of the KL for all",
        _replaced(lambda right: {"k1": right["kl"], "k3": right["kl"]}),
        'Returns the gradient of the KL for all estimates; only "k2" has it.',
    ),
    Mutant(
        "overflow",
        _with(k3=lambda v: 1 - np.exp(-v)),
        "Multiplies π by e⁻ᵛ, which overflows where π is tiny; the product is πref.",
    ),
    Mutant(
        "opposite sign",
        _replaced(lambda right: {name: -gradient for name, gradient in right.items()}),
        "Returns every gradient with the opposite sign, so it points downhill.",
    ),
)
