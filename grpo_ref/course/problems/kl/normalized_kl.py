"""The KL of a group's outcomes."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Real
from grpo_ref.course.grading.domain.domain import Domain, Rule
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.objective import grpo_objective

DOMAIN = Domain(
    {
        "rhos": Real("G", (0, 100), usual=((0.1, 2), (0, 100)), meaning="ρ = πθ/πold of each outcome"),
        "pi_theta_old": Real(
            "G",
            (0, 10),
            usual=((0.01, 1), (1e-12, 1), (0, 10)),
            meaning="πold of each outcome; need not sum to 1",
        ),
        "pi_theta_ref": Real(
            "G",
            (1e-12, 10),
            usual=((0.01, 1), (1e-12, 1), (0.01, 10)),
            meaning="πref of each outcome; need not sum to 1",
        ),
    },
    sizes={"G": (2, 6)},
    large={"G": 80},
    rules=(
        Rule(
            "Σ ρ πold is positive.",
            lambda values: float(np.dot(values["rhos"], values["pi_theta_old"])) > 0.0,
        ),
    ),
)


def _reference(rhos: Any, pi_theta_old: Any, pi_theta_ref: Any) -> Any:
    return -grpo_objective(rhos, np.zeros(len(rhos)), pi_theta_old, pi_theta_ref, beta=1.0)


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
    same = abs(float(f(rho, old, ref)) - float(f(rho, 10 * old, 7 * ref))) < 1e-12
    return None if same else "probabilities that do not sum to 1 should be normalized first"


def _matching(f: Function) -> str | None:
    value = f(np.ones(2), np.array([0.3, 0.7]), np.array([0.3, 0.7]))
    return None if abs(float(value)) < 1e-9 else "equal distributions should have no divergence"


PROBLEM = Problem(
    id="kl/normalized_kl",
    title="The KL of a group's outcomes",
    function="normalized_kl",
    reference=_reference,
    background=(
        "The policy has answered one prompt G times. Take these G outcomes as all that can happen: then the policy is"
        " a distribution over G outcomes, and so is the reference, the frozen model from before the training. How"
        " far one is from the other can be written out as a KL over the group. The objective that you will write in"
        " the chapter after next subtracts exactly this KL."
    ),
    task=(
        "Write `normalized_kl(rhos, pi_theta_old, pi_theta_ref)`, the KL of the policy to the reference:\n\n"
        "    p = ρ πold / Σ ρ πold,    q = πref / Σ πref,    KL = Σ p log(p/q + 1e-10)\n\n"
        "πold is the probability of an outcome under the policy that drew it, before the update; the ratio ρ ="
        " πθ/πold says how much likelier the policy πθ of today finds it, so ρ πold is πθ. None of the inputs"
        " sums to 1, since the group holds only some of all possible outcomes; so p and q are each divided by their"
        " own sum. 1e-10 is added to the quotient, inside the logarithm, so that an outcome of probability 0 adds"
        " 0 · log 1e-10 = 0. All sums run over the group, and the logarithm is the natural one."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="A number, in nats.",
    notes=(
        "Because of the 1e-10, equal distributions have a KL of about 1e-10, not 0. Trainers do not compute this KL;"
        " they estimate one token by token, as in the exercises before."
    ),
    source="grpo_ref.grpo_objective, its KL term.",
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
            why=(
                "ρ πold = 0.75 and 0.25 sum to 1, so p = 3/4, 1/4 and q = 1/2, 1/2. The quotients are 1.5 and 0.5,"
                " and 3/4 log 1.5 + 1/4 log 0.5 = 0.131."
            ),
            shown=True,
        ),
        Case(
            "An outcome that became impossible",
            ([0.0, 1.0], [0.5, 0.5], [0.5, 0.5]),
            np.log(2.0 + 1e-10),
            why="p = 0, 1; the first adds 0 · log 1e-10",
        ),
        Case(
            "Nothing sums to one",
            ([3.0, 1.0], [2.0, 2.0], [1.0, 1.0]),
            0.75 * np.log(1.5 + 1e-10) + 0.25 * np.log(0.5 + 1e-10),
            why="ρ πold = 6, 2 and πref = 1, 1 are again p = 3/4, 1/4 and q = 1/2, 1/2",
        ),
        Holds(
            "Matching policies have none",
            _matching,
            why="every quotient is 1, and log(1 + 1e-10) is about 1e-10",
        ),
        Holds("The inputs need not sum to one", _units, why="each side is divided by its own sum"),
        Unchanged((np.array([1.5, 0.5]), np.array([0.5, 0.5]), np.array([0.4, 0.6]))),
        FromDomain(),
        *found_cases(__file__),
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
