"""Wrong answers to `kl/normalized_kl`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.kl.normalized_kl.tests import reference


def _normalized(x):
    return x / x.sum()


def _policy(rho, old):
    return _normalized(rho * old)


def _kl(p, q):
    return (p * np.log(p / q + 1e-10)).sum()


def _with(kl=_kl, p=_policy, q=_normalized):
    """Return an answer with another KL of p and q, or with another p or q."""

    def answer(rhos, pi_theta_old, pi_theta_ref):
        rho, old, ref = (np.asarray(x, dtype=float) for x in (rhos, pi_theta_old, pi_theta_ref))
        return kl(p(rho, old), q(ref))

    return answer


WRONG = (
    Mutant(
        "policy not normalized",
        _with(p=lambda rho, old: rho * old),
        "Uses ρ πold as p without dividing it by its sum.",
    ),
    Mutant(
        "reference not normalized",
        _with(q=lambda x: x),
        "Uses πref as q without dividing it by its sum.",
    ),
    Mutant(
        "nothing normalized",
        _with(p=lambda rho, old: rho * old, q=lambda x: x),
        "Uses ρ πold and πref as p and q without dividing them by their sums.",
    ),
    Mutant(
        "exchanged",
        _with(kl=lambda p, q: _kl(q, p)),
        "Returns KL(q ‖ p): the two distributions are exchanged.",
    ),
    Mutant(
        "weighted by q",
        _with(kl=lambda p, q: (q * np.log(p / q + 1e-10)).sum()),
        "Weights the logarithms by q; the weights are p.",
    ),
    Mutant(
        "old policy",
        _with(p=lambda rho, old: _normalized(old)),
        "Ignores the ratios ρ, so this is the KL of πold and not of πθ.",
    ),
    Mutant(
        "ratios alone",
        _with(p=lambda rho, old: _normalized(rho)),
        "Ignores πold and uses the ratios ρ as probabilities.",
    ),
    Mutant(
        "mean for sum",
        _with(kl=lambda p, q: _kl(p, q) / len(p)),
        "Averages the terms over the group; they are summed.",
    ),
    Mutant(
        "terms not summed",
        _with(kl=lambda p, q: p * np.log(p / q + 1e-10)),
        "Returns the terms of the KL without summing them.",
    ),
    Mutant(
        "bits",
        _with(kl=lambda p, q: _kl(p, q) / np.log(2)),
        "Returns the KL in bits, as with `np.log2`; the logarithm is the natural one.",
    ),
    Mutant("opposite sign", _with(kl=lambda p, q: -_kl(p, q)), "Returns the KL with the opposite sign."),
    Mutant(
        "no 1e-10",
        _with(kl=lambda p, q: (p * np.log(p / q)).sum()),
        "Omits the 1e-10, so an outcome with p = 0 gives 0 · log 0, which is NaN.",
    ),
    Mutant(
        "1e-10 outside",
        _with(kl=lambda p, q: (p * (np.log(p / q) + 1e-10)).sum()),
        "Adds 1e-10 to the logarithm; it is added to the quotient inside.",
    ),
    Mutant(
        "1e-10 below",
        _with(kl=lambda p, q: (p * np.log(p / (q + 1e-10))).sum()),
        "Adds 1e-10 to q; it is added to the quotient p/q.",
    ),
    Mutant(
        "1e-10 above",
        _with(kl=lambda p, q: (p * np.log((p + 1e-10) / q)).sum()),
        "Adds 1e-10 to p; it is added to the quotient p/q.",
    ),
    Mutant(
        "1e-10 in both",
        _with(kl=lambda p, q: (p * np.log((p + 1e-10) / (q + 1e-10))).sum()),
        "Adds 1e-10 to p and to q; it is added to the quotient p/q.",
    ),
    Mutant(
        "an array",
        lambda r, o, f: np.array([reference(r, o, f)]),
        "Returns an array that holds the KL; a number is expected.",
    ),
)
