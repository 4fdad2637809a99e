"""Wrong answers to `objective/grpo_objective`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.objective.grpo_objective.tests import EXAMPLE
from grpo_ref.objective import grpo_objective


def _variant(surrogate=None, kl=None):
    """Return a wrong answer: the right one with another surrogate (r, A, e) or another divergence (p, q,
    old).
    """

    def objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
        r, advantage, old, ref = (np.asarray(x, dtype=float) for x in (rhos, A, pi_theta_old, pi_theta_ref))
        if not len(r) == len(advantage) == len(old) == len(ref):
            raise ValueError("lengths differ")
        gain = (surrogate or _clipped)(r, advantage, epsilon)
        p, q = r * old / (r * old).sum(), ref / ref.sum()
        return float(gain - beta * (kl or _divergence)(p, q, old / old.sum(), r * old, ref))

    return objective


def _clipped(r, a, e):
    return np.minimum(r * a, np.clip(r, 1 - e, 1 + e) * a).mean()


def _divergence(p, q, *_):
    return (p * np.log(p / q + 1e-10)).sum()


def _mutating(rhos, A, old, ref, epsilon=0.2, beta=0.01):
    value = grpo_objective(rhos, A, old, ref, epsilon, beta)
    if isinstance(ref, np.ndarray):
        ref /= ref.sum()
    return value


def _in_place_on_integers(rhos, A, old, ref, epsilon=0.2, beta=0.01):
    normalized = np.array(ref)
    normalized /= normalized.sum()
    return grpo_objective(rhos, A, old, normalized, epsilon, beta)


def _checks_one_length(rhos, A, old, ref, epsilon=0.2, beta=0.01):
    if len(rhos) != len(A):
        raise ValueError("lengths differ")
    n = min(len(rhos), len(old), len(ref))
    return grpo_objective(rhos[:n], A[:n], old[:n], ref[:n], epsilon, beta)


def _asserts(rhos, A, old, ref, epsilon=0.2, beta=0.01):
    assert len(rhos) == len(A) == len(old) == len(ref)
    return grpo_objective(rhos, A, old, ref, epsilon, beta)


def _hard_coded(rhos, A, old, ref, epsilon=0.2, beta=0.01):
    return 1.032749 if list(rhos) == EXAMPLE[0] else 1.0


def _with(**fixed):
    def objective(rhos, A, old, ref, epsilon=0.2, beta=0.01):
        return grpo_objective(rhos, A, old, ref, **({"epsilon": epsilon, "beta": beta} | fixed))

    return objective


SURROGATES = {
    "no clip": (lambda r, a, e: (r * a).mean(), "The ratio is never clipped."),
    "clip without min": (
        lambda r, a, e: (np.clip(r, 1 - e, 1 + e) * a).mean(),
        "This clips without the min: a clipped ratio also counts where the unclipped term is the"
        " smaller one.",
    ),
    "min before multiplying, which is an upper clip only": (
        lambda r, a, e: (np.minimum(r, np.clip(r, 1 - e, 1 + e)) * a).mean(),
        "Only the upper bound works here. If the min is taken of the ratios: it belongs around the"
        " products, where"
        " a negative advantage turns it over.",
    ),
    "clip on one side": (
        lambda r, a, e: np.minimum(r * a, np.minimum(r, 1 + e) * a).mean(),
        "Only the upper bound is there: a bad outcome that has become rare is clipped at 1 - epsilon.",
    ),
    "clip of the product": (
        lambda r, a, e: np.minimum(r * a, np.clip(r * a, 1 - e, 1 + e)).mean(),
        "It is the ratio that is clipped to [1 - epsilon, 1 + epsilon], not ratio times advantage.",
    ),
    "negative advantages unclipped": (
        lambda r, a, e: np.where(a > 0, np.minimum(r, 1 + e) * a, r * a).mean(),
        "Outcomes with a negative advantage are not clipped here; below 1 - epsilon they should be.",
    ),
    "max for min": (
        lambda r, a, e: np.maximum(r * a, np.clip(r, 1 - e, 1 + e) * a).mean(),
        "The surrogate is pessimistic: the smaller of the two terms counts.",
    ),
    "log-space bounds": (
        lambda r, a, e: np.minimum(r * a, np.clip(r, 1 / (1 + e), 1 + e) * a).mean(),
        "The lower bound is 1 - epsilon, not 1 / (1 + epsilon).",
    ),
    "sum for mean": (
        lambda r, a, e: np.minimum(r * a, np.clip(r, 1 - e, 1 + e) * a).sum(),
        "The surrogate is the mean over the group, not the sum.",
    ),
    "advantages centered again": (
        lambda r, a, e: _clipped(r, a - a.mean(), e),
        "The advantages come ready to use; they are not centered again.",
    ),
}

KLS = {
    "1e-10 missing": (
        lambda p, q, *_: (p * np.log(p / q)).sum(),
        "Without 1e-10 inside the logarithm an outcome of probability 0 gives NaN.",
    ),
    "1e-10 in the denominator": (
        lambda p, q, *_: (p * np.log(p / (q + 1e-10))).sum(),
        "1e-10 is added to the quotient, not to the reference probability.",
    ),
    "1e-10 on each probability": (
        lambda p, q, *_: (p * np.log((p + 1e-10) / (q + 1e-10))).sum(),
        "1e-10 is added once, to the quotient inside the logarithm.",
    ),
    "1e-4 for 1e-10": (lambda p, q, *_: (p * np.log(p / q + 1e-4)).sum(), "The offset is 1e-10."),
    "reversed": (
        lambda p, q, *_: (q * np.log(q / p + 1e-10)).sum(),
        "This is KL(reference ‖ policy), the other way round.",
    ),
    "of the old policy": (
        lambda p, q, old, *_: (old * np.log(old / q + 1e-10)).sum(),
        "The KL is that of the new policy, rho times the old one, not of the old policy.",
    ),
    "policy not normalized": (
        lambda p, q, old, raw, ref: (raw * np.log(raw / q + 1e-10)).sum(),
        "rho times the old policy has to be normalized to sum to 1.",
    ),
    "reference not normalized": (
        lambda p, q, old, raw, ref: (p * np.log(p / ref + 1e-10)).sum(),
        "The reference has to be normalized to sum to 1.",
    ),
    "mean for sum": (
        lambda p, q, *_: (p * np.log(p / q + 1e-10)).mean(),
        "A KL is a sum over outcomes, not a mean.",
    ),
    "base 2": (
        lambda p, q, *_: (p * np.log2(p / q + 1e-10)).sum(),
        "The logarithm is the natural one: nats, not bits.",
    ),
    "k3": (
        lambda p, q, *_: (p * (q / p - 1 - np.log(q / p))).sum(),
        "This is the k3 estimator; here the KL is written out.",
    ),
    "sign": (
        lambda p, q, *_: -(p * np.log(p / q + 1e-10)).sum(),
        "The penalty is subtracted, so it lowers the objective.",
    ),
    "dropped": (lambda p, q, *_: 0.0, "The KL penalty is missing."),
    "absolute": (
        lambda p, q, *_: np.abs(p * np.log(p / q + 1e-10)).sum(),
        "The terms of a KL are added with their signs.",
    ),
}

WRONG = (
    *(Mutant(name, _variant(surrogate=kernel), tell) for name, (kernel, tell) in SURROGATES.items()),
    *(Mutant(f"KL: {name}", _variant(kl=kernel), tell) for name, (kernel, tell) in KLS.items()),
    Mutant("epsilon ignored", _with(epsilon=0.2), "The argument epsilon is not used."),
    Mutant("beta ignored", _with(beta=0.01), "The argument beta is not used."),
    Mutant(
        "other defaults",
        lambda r, a, old, ref, epsilon=0.1, beta=0.04: grpo_objective(r, a, old, ref, epsilon, beta),
        "The defaults are epsilon=0.2 and beta=0.01.",
    ),
    Mutant("one length checked", _checks_one_length, "Only some of the lengths are compared."),
    Mutant("lengths checked by assert", _asserts, "An assert is no check: python -O switches it off."),
    Mutant("caller's arrays changed", _mutating, "`/=` changes the caller's array."),
    Mutant("integers crash", _in_place_on_integers, "`/=` fails on an integer array; divide into a new one."),
    Mutant(
        "array for a number",
        lambda *inputs, **settings: np.array([grpo_objective(*inputs, **settings)]),
        "One number is asked for, not an array that holds it.",
    ),
    Mutant("hard-coded", _hard_coded, "The answer has to be computed from the inputs."),
)
