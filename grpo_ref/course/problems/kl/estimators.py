"""Two estimates from one token."""

from typing import Any

import numpy as np

from grpo_ref import penalties
from grpo_ref.course.grading.domain.domain import Domain
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
from grpo_ref.course.problems.token_pairs import LARGE, SIZES, log_probs_of_both

DOMAIN = Domain(log_probs_of_both(1e-5, farthest=1000.0), sizes=SIZES, large=LARGE)


def _reference(log_probs: Any, ref_log_probs: Any) -> Any:
    arrays = np.asarray(log_probs, dtype=float), np.asarray(ref_log_probs, dtype=float)
    return penalties.k1(*arrays).value, penalties.k2(*arrays).value


def _of(k1: Any = None, k2: Any = None) -> Function:
    def answer(log_probs: Any, ref_log_probs: Any) -> Any:
        v = np.asarray(log_probs, dtype=float) - np.asarray(ref_log_probs, dtype=float)
        return (k1 or (lambda v: v))(v), (k2 or (lambda v: v**2 / 2))(v)

    return answer


def _k1_unbiased(f: Function) -> str | None:
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    same = abs((p * np.asarray(f(np.log(p), np.log(q))[0])).sum() - (p * np.log(p / q)).sum()) < 1e-9
    return None if same else "averaged over tokens drawn from the policy, k1 should be KL(π ‖ πref)"


PROBLEM = Problem(
    id="kl/estimators",
    title="Two estimates from one token",
    function="k1_and_k2",
    reference=_reference,
    background=(
        "The KL from the policy πθ to the frozen reference πref is an average over all tokens that the policy could"
        " draw. A trainer looks at one token only, the one that was sampled, with its log-probability under both."
        " From these two numbers it estimates the KL; averaged over many tokens the estimate should come near the"
        " true value. The first idea, k1, is the log-ratio itself: right on average, but negative for every token"
        " that the policy likes less than the reference does, so it swings a lot. Half its square, k2, is never"
        " negative and swings less, and its average is a little off the KL: it is biased."
    ),
    task=(
        "Write `k1_and_k2(log_probs, ref_log_probs)`, which returns both estimates for every token:\n\n"
        "    v = log πθ - log πref,    k1 = v,    k2 = v² / 2\n\n"
        "πθ is the probability of the sampled token under the policy, πref that under the reference; the inputs are"
        " their logarithms. Nothing is averaged or clipped."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="Two arrays (k1, k2) in this order, each of the shape of the inputs, in nats; two numbers for numbers.",
    notes=(
        "In grpo_ref they are k1 and k2. verl, RLinf and Open Instruct offer both; Open Instruct limits v to ±40"
        " beforehand, which is not asked for here."
    ),
    source="Schulman 2020, Approximating KL divergence; verl `kl_penalty`; Open Instruct `estimate_kl`.",
    hints=(
        "Both are functions of one number, the log-ratio to the reference.",
        "v is positive where the policy likes the token better than the reference does.",
        "v = log_probs - ref_log_probs; return v, v**2 / 2",
    ),
    checks=(
        Case(
            "Twice as likely as under the reference",
            (np.log([0.5]), np.log([0.25])),
            (np.log([2.0]), np.log([2.0]) ** 2 / 2),
            why="v = log 0.5 - log 0.25 = log 2 = 0.693, and half its square is 0.240.",
            shown=True,
        ),
        Case(
            "Half as likely",
            (np.log([0.25]), np.log([0.5])),
            (-np.log([2.0]), np.log([2.0]) ** 2 / 2),
            why="v = -log 2: k1 is negative, k2 is not",
        ),
        Case("Equal policies", (np.log([0.3]), np.log([0.3])), (np.zeros(1), np.zeros(1)), why="v = 0"),
        Holds("k1 is unbiased", _k1_unbiased, why="Σ π log(π/πref) is the KL itself"),
        Unchanged((np.log([0.5, 0.25]), np.log([0.25, 0.5]))),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "v turned over", lambda a, b: _reference(b, a), "v is log πθ - log πref; it is turned over here."
        ),
        Mutant("k2 without the half", _of(k2=lambda v: v**2), "k2 is half the square."),
        Mutant("k3 for k2", _of(k2=lambda v: np.expm1(-v) + v), "This is k3, not k2."),
        Mutant("absolute k1", _of(k1=np.abs), "k1 keeps its sign: it can be negative."),
        Mutant("ratio for k1", _of(k1=np.exp), "k1 is the logarithm of the ratio."),
        Mutant("swapped", lambda a, b: _reference(a, b)[::-1], "k1 comes first."),
        Mutant(
            "means",
            lambda a, b: tuple(x.mean() for x in _reference(a, b)),
            "One estimate per token is asked for.",
        ),
        Mutant(
            "of probabilities",
            lambda a, b: _reference(np.exp(a), np.exp(b)),
            "The inputs are log-probabilities already.",
        ),
    ),
    others={"a list": lambda a, b: [_reference(a, b)[0].tolist(), _reference(a, b)[1].tolist()]},
)
