"""The GRPO objective of one group, with an explicit KL: the problem the course grew from."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain, Refusal, Rule
from grpo_ref.course.grading.domain.rows import LEVELS, MIXED, SCALED_ROWS
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Function, Holds, Mutant, Problem, Raises, Unchanged
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.objective import grpo_objective

EXAMPLE = ([1.2, 0.8, 1.1], [1.0, 1.0, 1.0], [0.9, 1.1, 1.0], [1.0, 0.5, 1.5])
ONES = [1.0, 1.0]
LENGTHS = (
    *((2, 3, 3, 3), (3, 2, 3, 3), (3, 3, 2, 3), (3, 3, 3, 2)),
    *((2, 2, 3, 3), (2, 3, 2, 3), (2, 3, 3, 2)),
    *((1, 3, 3, 3), (3, 1, 3, 3), (3, 3, 1, 3), (3, 3, 3, 1)),
)
"""One input that is too short, two of them, and one of a single number, which NumPy would broadcast."""
OF_DIFFERENT_LENGTHS = tuple(
    tuple(values[:length] for values, length in zip(EXAMPLE, lengths, strict=True)) for lengths in LENGTHS
)


def _one_short(name: str) -> Refusal:
    """Remove the last number of one of the four inputs."""
    return Refusal(f"{name} shorter than the others", lambda values: {name: values[name][:-1]})


def _has_some_mass(values: Mapping[str, Any]) -> bool:
    return bool((np.asarray(values["rhos"]) * np.asarray(values["pi_theta_old"])).sum() > 0.0)


DOMAIN = Domain(
    {
        "rhos": Real(
            "G",
            (0, 100),
            usual=((0.5, 1.5), (0, 3), (0, 100)),
            at=(1, "1 + epsilon", "1 - epsilon"),
            meaning="G likelihood ratios πθ(oᵢ)/πold(oᵢ)",
        ),
        "A": Real("G", (-100, 100), meaning="G advantages"),
        "pi_theta_old": Real(
            "G",
            (0, 100),
            usual=((0.05, 1), (0, 100)),
            rows=(MIXED, LEVELS, SCALED_ROWS),
            meaning="G probabilities, which need not sum to 1",
        ),
        "pi_theta_ref": Real(
            "G",
            (1e-12, 100),
            usual=((0.05, 1), (1e-12, 1), (0.05, 100)),
            rows=(MIXED, LEVELS, SCALED_ROWS),
            meaning="G probabilities, which need not sum to 1",
        ),
        "epsilon": Scalar(0.2, (0, 0.99), at=(0,), meaning="ε, the clip range"),
        "beta": Scalar(0.01, (0, 10), at=(0, 1), meaning="β, the weight of the KL"),
    },
    sizes={"G": (1, 5)},
    large={"G": 100},
    rules=(Rule("At least one outcome has a ratio and an old probability above 0.", _has_some_mass),),
    refusals=tuple(map(_one_short, ("rhos", "A", "pi_theta_old", "pi_theta_ref"))),
)


def _number(f: Function, *arguments: Any) -> float:
    return float(np.asarray(f(*arguments)))


def _rounds_to_the_published_value(f: Function) -> str | None:
    same = round(_number(f, *EXAMPLE, 0.2, 0.01), 6) == 1.032749
    return None if same else "rounded to six digits it should be 1.032749"


def _matching_policies(f: Function) -> str | None:
    value = _number(f, [1.0, 1.0], [0.5, 0.25], [0.3, 0.7], [0.3, 0.7], 0.2, 1.0)
    return None if abs(value - 0.375) < 1e-6 else "with equal policies only the mean advantage should be left"


def _larger_beta_lowers(f: Function) -> str | None:
    values = [_number(f, *EXAMPLE, 0.2, beta) for beta in (0.0, 0.01, 0.1, 1.0)]
    falling = all(high > low for high, low in pairwise(values))
    return None if falling else "beta 0, 0.01, 0.1 and 1 should give falling values"


def _defaults(f: Function) -> str | None:
    same = abs(_number(f, *EXAMPLE) - _number(f, *EXAMPLE, 0.2, 0.01)) < 1e-12
    return None if same else "left out, epsilon is 0.2 and beta 0.01"


def _variant(surrogate: Callable[..., Any] | None = None, kl: Callable[..., Any] | None = None) -> Function:
    """Return a wrong answer: the right one with another surrogate (r, A, e) or another divergence (p, q,
    old).
    """

    def objective(
        rhos: Any, A: Any, pi_theta_old: Any, pi_theta_ref: Any, epsilon: float = 0.2, beta: float = 0.01
    ) -> float:
        r, advantage, old, ref = (np.asarray(x, dtype=float) for x in (rhos, A, pi_theta_old, pi_theta_ref))
        if not len(r) == len(advantage) == len(old) == len(ref):
            raise ValueError("lengths differ")
        gain = (surrogate or _clipped)(r, advantage, epsilon)
        p, q = r * old / (r * old).sum(), ref / ref.sum()
        return float(gain - beta * (kl or _divergence)(p, q, old / old.sum(), r * old, ref))

    return objective


def _clipped(r: Any, a: Any, e: float) -> Any:
    return np.minimum(r * a, np.clip(r, 1 - e, 1 + e) * a).mean()


def _divergence(p: Any, q: Any, *_: Any) -> Any:
    return (p * np.log(p / q + 1e-10)).sum()


def _mutating(rhos: Any, A: Any, old: Any, ref: Any, epsilon: float = 0.2, beta: float = 0.01) -> float:
    value = grpo_objective(rhos, A, old, ref, epsilon, beta)
    if isinstance(ref, np.ndarray):
        ref /= ref.sum()
    return value


def _in_place_on_integers(
    rhos: Any, A: Any, old: Any, ref: Any, epsilon: float = 0.2, beta: float = 0.01
) -> float:
    normalized = np.array(ref)
    normalized /= normalized.sum()
    return grpo_objective(rhos, A, old, normalized, epsilon, beta)


def _checks_one_length(
    rhos: Any, A: Any, old: Any, ref: Any, epsilon: float = 0.2, beta: float = 0.01
) -> float:
    if len(rhos) != len(A):
        raise ValueError("lengths differ")
    n = min(len(rhos), len(old), len(ref))
    return grpo_objective(rhos[:n], A[:n], old[:n], ref[:n], epsilon, beta)


def _asserts(rhos: Any, A: Any, old: Any, ref: Any, epsilon: float = 0.2, beta: float = 0.01) -> float:
    assert len(rhos) == len(A) == len(old) == len(ref)
    return grpo_objective(rhos, A, old, ref, epsilon, beta)


def _hard_coded(rhos: Any, A: Any, old: Any, ref: Any, epsilon: float = 0.2, beta: float = 0.01) -> float:
    return 1.032749 if list(rhos) == EXAMPLE[0] else 1.0


def _with(**fixed: float) -> Function:
    def objective(rhos: Any, A: Any, old: Any, ref: Any, epsilon: float = 0.2, beta: float = 0.01) -> float:
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

PROBLEM = Problem(
    id="objective/grpo_objective",
    title="The GRPO objective of one group",
    function="grpo_objective",
    reference=grpo_objective,
    rtol=1e-11,
    background=(
        "A language model, the policy πθ, has answered one prompt G times. Each answer o has an advantage A:"
        " positive if"
        " it was better than the others of this group, negative if it was worse. In this problem each answer"
        " is one"
        " outcome with one probability. The ratio ρ says how much likelier the outcome has become since"
        " πold, the"
        " policy that wrote the answers. The objective grows when outcomes with a positive advantage become"
        " likelier"
        " and those with a negative one rarer, but only as far as the clip lets it, since the advantages were"
        " measured under πold and say little far away from it: this is PPO's clipped ratio. PPO learns a"
        " second network, the value"
        " network, to judge an answer; GRPO does without it, since it compares the answers with each other."
        " From the"
        " gain it subtracts a penalty, which pulls the policy toward a reference πref, the model from before"
        " the"
        " training. The penalty is a KL divergence: it is 0 for equal distributions and grows as they part."
    ),
    task=(
        "Write `grpo_objective(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01)`:\n\n"
        "    J = 1/G Σᵢ min(ρᵢ Aᵢ, clip(ρᵢ, 1-ε, 1+ε) Aᵢ) - β KL(πθ ‖ πref)\n"
        "    KL(πθ ‖ πref) = Σᵢ πθᵢ log(πθᵢ / πrefᵢ + 1e-10),    πθ ∝ ρ πold\n\n"
        "clip(ρ, 1-ε, 1+ε) is ρ held between 1-ε and 1+ε; ε is `epsilon`, β is `beta`. Both distributions are"
        " normalized to sum to 1 before the KL: πθ is ρ πold divided by its sum, πref is divided by its sum."
        " log is"
        " the natural logarithm."
    ),
    inputs=f"{DOMAIN.inputs}\nA ratio or an old probability may be 0; the probabilities of the reference are positive.",
    domain=DOMAIN,
    output="The objective, a number.",
    constraints=(
        "Clip the ratio to [1-ε, 1+ε], take the elementwise min with the unclipped term, then the mean.\n"
        "Normalize ρ πold and πref before the KL. Add 1e-10 inside the logarithm.\n"
        "Raise ValueError if the four lengths differ."
    ),
    example=(
        "    grpo_objective([1.2, 0.8, 1.1], [1.0, 1.0, 1.0], [0.9, 1.1, 1.0], [1.0, 0.5, 1.5], 0.2, 0.01)\n"
        "    -> 1.032749, rounded\n\n"
        "No ratio leaves 1 ± 0.2, so nothing is clipped and the mean is 3.1/3; β times the KL of 0.0584"
        " comes off."
    ),
    notes=(
        "1e-10 keeps the logarithm finite where πθ is 0; there the term is 0 times a finite number, which is"
        " 0."
        " This is the form of GRPO in problem sets. Trainers take one ratio for each token, and they estimate"
        " the KL token by token instead of writing it out; the chapter on KL shows how."
    ),
    kernel="grpo_ref.grpo_objective",
    source="Shao et al. 2024, DeepSeekMath (arXiv:2402.03300); the explicit KL is this problem's own.",
    hints=(
        "Work outward: first the two products, then their elementwise minimum, then the mean. Only then"
        " the KL.",
        "πθ is rhos * pi_theta_old divided by its sum. Which of the two products is smaller when A is"
        " negative?",
        "np.minimum(r * A, np.clip(r, 1 - epsilon, 1 + epsilon) * A).mean() is the surrogate; p *"
        " np.log(p / q + 1e-10)"
        " is one term of the KL.",
    ),
    checks=(
        Holds(
            "Reference example",
            _rounds_to_the_published_value,
            why="No ratio leaves 1 ± 0.2, so the surrogate is 3.1/3; the KL is 0.0584, of which 1 % comes off.",
            shown=True,
        ),
        Holds(
            "Matching policies make KL ~ 0; objective ~ mean advantage",
            _matching_policies,
            why="Ratios of 1 and a reference equal to the policy leave nothing but the mean of the advantages.",
        ),
        Case(
            "Large ratio with positive advantage is clipped",
            ([2.0, 1.0], [1.0, 1.0], ONES, ONES, 0.2, 0.0),
            1.1,
            why="min(2, 1.2) = 1.2, and 1: their mean is 1.1. beta is 0, so there is no penalty.",
            shown=True,
        ),
        Raises(
            "Length mismatch raises ValueError",
            OF_DIFFERENT_LENGTHS,
            why="Any of the four inputs may be short, and two of them as well, also so short that NumPy would stretch it; assert will not do, it can be switched off.",
        ),
        Holds(
            "Larger beta lowers the objective when KL > 0",
            _larger_beta_lowers,
            why="The KL is positive here, and it is subtracted.",
        ),
        Case(
            "Small ratio with negative advantage is clipped",
            ([0.5, 1.0], [-1.0, 1.0], ONES, ONES, 0.2, 0.0),
            0.1,
            why="min(-0.5, -0.8) = -0.8, and 1: their mean is 0.1.",
        ),
        Case(
            "Large ratio with negative advantage is not clipped",
            ([2.0, 1.0], [-1.0, 1.0], ONES, ONES, 0.2, 0.0),
            -0.5,
            why="min(-2, -1.2) = -2: a bad outcome that has become likelier keeps its full weight.",
        ),
        Case(
            "Small ratio with positive advantage is not clipped",
            ([0.5, 1.0], [1.0, 1.0], ONES, ONES, 0.2, 0.0),
            0.75,
            why="min(0.5, 0.8) = 0.5: a good outcome that has become rarer keeps pulling.",
        ),
        Case(
            "An outcome of probability zero is no problem",
            ([0.0, 1.0], [0.0, 0.0], ONES, ONES, 0.2, 1.0),
            -np.log(2.0 + 1e-10),
            why="0 times log(0 + 1e-10) is 0; what is left is 1 times log(2 + 1e-10).",
        ),
        Case(
            "Integers will do",
            (np.array([2, 1]), np.array([1, -1]), np.array([1, 2]), np.array([3, 1]), 0.2, 0.0),
            0.1,
            why="Integer arrays cannot be divided in place. min(2, 1.2) and -1 have the mean 0.1.",
        ),
        Holds("Epsilon and beta have their defaults", _defaults, why="The signature gives 0.2 and 0.01."),
        Unchanged(tuple(np.array(values) for values in EXAMPLE)),
        Case(
            "A reference that nearly sums to 1",
            ([1.0, 1.0], [0.0, 0.0], [0.5, 0.5], [0.5, 0.505], 0.2, 1.0),
            -0.5 * (np.log(1.005 + 1e-10) + np.log(1.005 / 1.01 + 1e-10)),
            why="q is 0.5/1.005 and 0.505/1.005, so p/q is 1.005 and 1.005/1.01; nearly 1 is not 1",
        ),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
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
        Mutant(
            "integers crash", _in_place_on_integers, "`/=` fails on an integer array; divide into a new one."
        ),
        Mutant(
            "array for a number",
            lambda *inputs, **settings: np.array([grpo_objective(*inputs, **settings)]),
            "One number is asked for, not an array that holds it.",
        ),
        Mutant("hard-coded", _hard_coded, "The answer has to be computed from the inputs."),
    ),
    others={
        "plain Python loops": _variant(
            surrogate=lambda r, a, e: (
                sum(min(x * y, min(max(x, 1 - e), 1 + e) * y) for x, y in zip(r, a, strict=True)) / len(r)
            )
        ),
        "Einstein sum": _variant(kl=lambda p, q, *_: np.einsum("i,i->", p, np.log(p / q + 1e-10))),
        "a NumPy scalar": lambda *inputs, **settings: np.float64(grpo_objective(*inputs, **settings)),
    },
)
