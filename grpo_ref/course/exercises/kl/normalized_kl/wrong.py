"""Wrong answers to `kl/normalized_kl`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.kl.normalized_kl.tests import reference


def _of(kl=None, policy=None, reference=None):
    def answer(rhos, pi_theta_old, pi_theta_ref):
        rho, old, ref = (np.asarray(x, dtype=float) for x in (rhos, pi_theta_old, pi_theta_ref))
        p, q = (policy or _policy)(rho, old), (reference or _normalized)(ref)
        return float((kl or _kl)(p, q))

    return answer


def _normalized(x):
    return x / x.sum()


def _policy(rho, old):
    return _normalized(rho * old)


def _kl(p, q):
    return (p * np.log(p / q + 1e-10)).sum()


WRONG = (
    Mutant(
        "policy not normalized",
        _of(policy=lambda rho, old: rho * old),
        "ρ πold is not divided by its sum.",
    ),
    Mutant("reference not normalized", _of(reference=lambda x: x), "πref is not divided by its sum."),
    Mutant(
        "turned over", _of(kl=lambda p, q: _kl(q, p)), "This is KL(q ‖ p): p stands before the logarithm."
    ),
    Mutant(
        "of the old policy",
        _of(policy=lambda rho, old: _normalized(old)),
        "The ratios are not used: this is the KL of the old policy.",
    ),
    Mutant(
        "of the ratios",
        _of(policy=lambda rho, old: _normalized(rho)),
        "πold is not used: ρ alone is not a probability.",
    ),
    Mutant(
        "mean for sum",
        _of(kl=lambda p, q: _kl(p, q) / len(p)),
        "The terms are summed: p is the weight already.",
    ),
    Mutant("base 2", _of(kl=lambda p, q: _kl(p, q) / np.log(2)), "The logarithm is the natural one."),
    Mutant(
        "no 1e-10",
        _of(kl=lambda p, q: (p * np.log(p / q)).sum()),
        "1e-10 is missing: an impossible outcome gives 0 · -inf.",
    ),
    Mutant(
        "1e-10 below",
        _of(kl=lambda p, q: (p * np.log(p / (q + 1e-10))).sum()),
        "1e-10 is added to the quotient, not to q.",
    ),
    Mutant(
        "k3",
        _of(kl=lambda p, q: (p * (q / p - 1 - np.log(q / p))).sum()),
        "This is the expected k3; the KL itself is asked for.",
    ),
    Mutant(
        "an array",
        lambda r, o, f: np.array([reference(r, o, f)]),
        "A number is asked for, not an array.",
    ),
)
