"""The KL of a group's outcomes."""

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
from grpo_ref.objective import grpo_objective


def _reference(rhos: Any, pi_theta_old: Any, pi_theta_ref: Any) -> Any:
    return -grpo_objective(rhos, np.zeros(len(rhos)), pi_theta_old, pi_theta_ref, beta=1.0)


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return tuple(rng.uniform(0.1, 2.0, (3, size + 1)))


def _of(kl: Any = None, policy: Any = None, reference: Any = None) -> Function:
    def answer(rhos: Any, pi_theta_old: Any, pi_theta_ref: Any) -> Any:
        rho, old, ref = (np.asarray(x, dtype=float) for x in (rhos, pi_theta_old, pi_theta_ref))
        p, q = (policy or _policy)(rho, old), (reference or _normalized)(ref)
        return float((kl or _kl)(p, q))

    return answer


def _normalized(x: Any) -> Any:
    return x / x.sum()


def _policy(rho: Any, old: Any) -> Any:
    return _normalized(rho * old)


def _kl(p: Any, q: Any) -> Any:
    return (p * np.log(p / q + 1e-10)).sum()


def _units(f: Function) -> str | None:
    rho, old, ref = np.array([1.2, 0.7]), np.array([0.4, 0.6]), np.array([0.5, 0.5])
    same = abs(f(rho, old, ref) - f(rho, 10 * old, 7 * ref)) < 1e-12
    return None if same else "probabilities that do not sum to 1 should be normalized first"


def _matching(f: Function) -> str | None:
    value = f(np.ones(2), np.array([0.3, 0.7]), np.array([0.3, 0.7]))
    return None if abs(value) < 1e-9 else "equal distributions should have no divergence"


PROBLEM = Problem(
    id="kl/normalized_kl",
    title="The KL of a group's outcomes",
    function="normalized_kl",
    reference=_reference,
    background=(
        "The next chapter but one builds an objective with an explicit KL: the G outcomes of a group are taken as one"
        " distribution, under the new policy and under the reference. Trainers estimate it token by token instead."
    ),
    task=(
        "Write `normalized_kl(rhos, pi_theta_old, pi_theta_ref)`:\n\n"
        "    p = ρ πold / Σ ρ πold,    q = πref / Σ πref,    KL = Σ p log(p/q + 1e-10)"
    ),
    inputs="rhos: ρ = πθ/πold of each outcome, so ρ πold is πθ.\npi_theta_old: πold of each outcome; need not sum to 1.\npi_theta_ref: πref, positive; need not sum to 1.",
    output="A number, in nats.",
    constraints="1e-10 stands inside the logarithm, so that an outcome of probability 0 adds 0.",
    source="the KL term of `objective/grpo_objective`.",
    hints=(
        "What is the new policy's probability of an outcome, if you know its ratio to the old one's?",
        "Normalize both sides to sum to 1, each by its own sum.",
        "p = rhos * old; p = p / p.sum(); q = ref / ref.sum(); (p * np.log(p / q + 1e-10)).sum()",
    ),
    checks=(
        Case(
            "Three quarters against one half",
            ([1.5, 0.5], [0.5, 0.5], [0.5, 0.5]),
            0.75 * np.log(1.5 + 1e-10) + 0.25 * np.log(0.5 + 1e-10),
            why="p = 3/4, 1/4 and q = 1/2, 1/2: quotients 1.5 and 0.5",
            shown=True,
        ),
        Case(
            "An outcome that became impossible",
            ([0.0, 1.0], [0.5, 0.5], [0.5, 0.5]),
            np.log(2.0 + 1e-10),
            why="p = 0, 1; the first adds 0 · log 1e-10",
        ),
        Holds(
            "Matching policies have none",
            _matching,
            why="every quotient is 1, and log(1 + 1e-10) is about 1e-10",
        ),
        Holds("The inputs need not sum to one", _units, why="each side is divided by its own sum"),
        Unchanged((np.array([1.5, 0.5]), np.array([0.5, 0.5]), np.array([0.4, 0.6]))),
        Drawn("Random groups agree", _draw, why="none of the inputs is normalized"),
    ),
    mutants=(
        changing_inputs(_reference),
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
            lambda r, o, f: np.array([_reference(r, o, f)]),
            "A number is asked for, not an array.",
        ),
    ),
    others={"SciPy's way": _of(kl=lambda p, q: p @ np.log(p / q + 1e-10))},
    rtol=1e-11,
)
