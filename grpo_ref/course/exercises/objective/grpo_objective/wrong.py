"""Wrong answers to `objective/grpo_objective`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.objective import grpo_objective


def smaller_product(r, a, e):
    return np.minimum(r * a, np.clip(r, 1 - e, 1 + e) * a)


def divergence(p, q):
    return (p * np.log(p / q + 1e-10)).sum()


def surrogate(formula, mean=np.mean):
    """Return the right answer with another surrogate (r, A, ε) per outcome, or without its mean."""

    def objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
        r, a = np.asarray(rhos, dtype=float), np.asarray(A, dtype=float)
        penalty = grpo_objective(rhos, np.zeros_like(a), pi_theta_old, pi_theta_ref, epsilon, beta)
        return float(mean(formula(r, a, epsilon)) + penalty)

    return objective


def penalty(formula):
    """Return the right answer with another KL, a function of ρ, πold and πref as they were given."""

    def objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
        gain = grpo_objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon, 0.0)
        inputs = (np.asarray(each, dtype=float) for each in (rhos, pi_theta_old, pi_theta_ref))
        return float(gain - beta * formula(*inputs))

    return objective


def kl(formula):
    """Return the right answer with another KL, a function of the normalized πθ and πref."""
    return penalty(lambda r, old, ref: formula(r * old / (r * old).sum(), ref / ref.sum()))


def settings(**fixed):
    """Return the right answer with some of its settings ignored."""

    def objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
        given = {"epsilon": epsilon, "beta": beta} | fixed
        return grpo_objective(rhos, A, pi_theta_old, pi_theta_ref, **given)

    return objective


def without_a_check(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    r, a, old, ref = (np.asarray(x, dtype=float) for x in (rhos, A, pi_theta_old, pi_theta_ref))
    p = r * old / (r * old).sum()
    return float(smaller_product(r, a, epsilon).mean() - beta * divergence(p, ref / ref.sum()))


def one_comparison(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    if len(rhos) != len(A):
        raise ValueError("lengths differ")
    n = min(len(rhos), len(pi_theta_old), len(pi_theta_ref))
    return grpo_objective(rhos[:n], A[:n], pi_theta_old[:n], pi_theta_ref[:n], epsilon, beta)


def asserts(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    assert len(rhos) == len(A) == len(pi_theta_old) == len(pi_theta_ref)
    return grpo_objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon, beta)


def divides_the_callers_array(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    value = grpo_objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon, beta)
    if isinstance(pi_theta_ref, np.ndarray):
        pi_theta_ref /= pi_theta_ref.sum()
    return value


def divides_in_place(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    normalized = np.array(pi_theta_ref)
    normalized /= normalized.sum()
    return grpo_objective(rhos, A, pi_theta_old, normalized, epsilon, beta)


WRONG = (
    Mutant("no clip", surrogate(lambda r, a, e: r * a), "Never clips the ratio."),
    Mutant(
        "clip without min",
        surrogate(lambda r, a, e: np.clip(r, 1 - e, 1 + e) * a),
        "Takes the clipped product alone; the surrogate is the smaller of two products.",
    ),
    Mutant(
        "max for min",
        surrogate(lambda r, a, e: np.maximum(r * a, np.clip(r, 1 - e, 1 + e) * a)),
        "Takes the larger of the two products; the surrogate is the smaller.",
    ),
    Mutant(
        "min of the ratios",
        surrogate(lambda r, a, e: np.minimum(r, np.clip(r, 1 - e, 1 + e)) * a),
        "Clips every ratio at 1 + ε, also of bad outcomes, and no ratio at 1 - ε.",
    ),
    Mutant(
        "no lower bound",
        surrogate(lambda r, a, e: np.minimum(r * a, np.minimum(r, 1 + e) * a)),
        "Never clips at 1 - ε, so no bad outcome is clipped.",
    ),
    Mutant(
        "clip of the product",
        surrogate(lambda r, a, e: np.minimum(r * a, np.clip(r * a, 1 - e, 1 + e))),
        "Clips the product ρ A to [1 - ε, 1 + ε]; only the ratio is clipped.",
    ),
    Mutant(
        "lower bound 1/(1+ε)",
        surrogate(lambda r, a, e: np.minimum(r * a, np.clip(r, 1 / (1 + e), 1 + e) * a)),
        "Uses the lower bound 1 / (1 + ε); it is 1 - ε.",
    ),
    Mutant(
        "sum for mean",
        surrogate(smaller_product, np.sum),
        "Adds the surrogates of the group; the objective has their mean.",
    ),
    Mutant(
        "advantages centered again",
        surrogate(lambda r, a, e: smaller_product(r, a - a.mean(), e)),
        "Subtracts the mean from the advantages; the formula uses them as they are.",
    ),
    Mutant(
        "advantages normalized again",
        surrogate(lambda r, a, e: smaller_product(r, (a - a.mean()) / (a.std() + 1e-8), e)),
        "Subtracts the mean from the advantages and divides by the standard deviation; the formula does not.",
    ),
    Mutant("KL: dropped", penalty(lambda r, old, ref: 0.0), "Omits the KL penalty."),
    Mutant(
        "KL: sign",
        kl(lambda p, q: -divergence(p, q)),
        "Adds β KL to the objective; the penalty is subtracted.",
    ),
    Mutant(
        "KL: reversed",
        kl(lambda p, q: divergence(q, p)),
        "Computes KL(πref ‖ πθ), the other direction.",
    ),
    Mutant(
        "KL: of the old policy",
        penalty(lambda r, old, ref: divergence(old / old.sum(), ref / ref.sum())),
        "Computes the KL of πold; the KL is that of πθ ∝ ρ πold.",
    ),
    Mutant(
        "KL: of the ratios",
        penalty(lambda r, old, ref: divergence(r / r.sum(), ref / ref.sum())),
        "Normalizes ρ instead of ρ πold.",
    ),
    Mutant(
        "KL: policy not normalized",
        penalty(lambda r, old, ref: divergence(r * old, ref / ref.sum())),
        "Uses ρ πold without dividing it by its sum.",
    ),
    Mutant(
        "KL: only the old policy normalized",
        penalty(lambda r, old, ref: divergence(r * old / old.sum(), ref / ref.sum())),
        "Divides πold by its sum, but not ρ πold.",
    ),
    Mutant(
        "KL: reference not normalized",
        penalty(lambda r, old, ref: divergence(r * old / (r * old).sum(), ref)),
        "Uses πref without dividing it by its sum.",
    ),
    Mutant(
        "KL: nothing normalized",
        penalty(lambda r, old, ref: divergence(r * old, ref)),
        "Divides neither ρ πold nor πref by its sum.",
    ),
    Mutant(
        "KL: mean for sum",
        kl(lambda p, q: divergence(p, q) / len(p)),
        "Takes the mean of the terms of the KL; the KL is their sum.",
    ),
    Mutant(
        "KL: not weighted",
        kl(lambda p, q: np.log(p / q + 1e-10).mean()),
        "Averages log(πθ/πref) over the outcomes; each term has the weight πθ.",
    ),
    Mutant(
        "KL: base 2",
        kl(lambda p, q: divergence(p, q) / np.log(2.0)),
        "Uses the logarithm to base 2 in the KL; the formula has the natural logarithm.",
    ),
    Mutant(
        "KL: k3",
        kl(lambda p, q: (q / p - 1 - np.log(q / p)).mean()),
        "Averages the estimates k3 of the outcomes; the KL is a sum with the weights πθ.",
    ),
    Mutant(
        "KL: absolute",
        kl(lambda p, q: np.abs(p * np.log(p / q + 1e-10)).sum()),
        "Adds the absolute values of the terms of the KL; some terms are negative.",
    ),
    Mutant(
        "KL: 1e-10 missing",
        kl(lambda p, q: (p * np.log(p / q)).sum()),
        "Omits the 1e-10 inside the logarithm.",
    ),
    Mutant(
        "KL: 1e-10 in the denominator",
        kl(lambda p, q: (p * np.log(p / (q + 1e-10))).sum()),
        "Adds 1e-10 to πref; the formula adds 1e-10 to the quotient.",
    ),
    Mutant(
        "KL: 1e-10 on each probability",
        kl(lambda p, q: (p * np.log((p + 1e-10) / (q + 1e-10))).sum()),
        "Adds 1e-10 to πθ and to πref; the formula adds 1e-10 to the quotient.",
    ),
    Mutant(
        "KL: 1e-4 for 1e-10",
        kl(lambda p, q: (p * np.log(p / q + 1e-4)).sum()),
        "Adds 1e-4 inside the logarithm; the formula has 1e-10.",
    ),
    Mutant("epsilon ignored", settings(epsilon=0.2), "Ignores the argument `epsilon`."),
    Mutant("beta ignored", settings(beta=0.01), "Ignores the argument `beta`."),
    Mutant(
        "other defaults",
        lambda r, a, old, ref, epsilon=0.1, beta=0.04: grpo_objective(r, a, old, ref, epsilon, beta),
        "Has other defaults than epsilon=0.2 and beta=0.01.",
    ),
    Mutant(
        "no comparison of lengths",
        without_a_check,
        "Accepts an array of length 1 beside longer ones, because NumPy broadcasts it.",
    ),
    Mutant(
        "one comparison of lengths",
        one_comparison,
        "Accepts some inputs of different lengths; all four lengths must be compared.",
    ),
    Mutant(
        "lengths compared by assert",
        asserts,
        "Raises another error than ValueError for different lengths; `assert` raises AssertionError.",
    ),
    Mutant(
        "caller's array changed",
        divides_the_callers_array,
        "Changes the caller's array `pi_theta_ref`; `/=` works in place.",
    ),
    Mutant(
        "division in place",
        divides_in_place,
        "Raises an error for integers in `pi_theta_ref`; `/=` cannot divide an integer array.",
    ),
    Mutant(
        "array for a number",
        lambda *inputs, **settings: np.array([grpo_objective(*inputs, **settings)]),
        "Returns an array of shape (1,); a number is asked for.",
    ),
    Mutant(
        "constant",
        lambda rhos, A, old, ref, epsilon=0.2, beta=0.01: 1.032748929359358,
        "Returns the same number for all inputs.",
    ),
)
