"""The divergence itself."""

from typing import Any

import numpy as np

from grpo_ref import penalties
from grpo_ref.course.grading.domain.arguments import Real
from grpo_ref.course.grading.domain.distributions import (
    ALIKE_THEN_ZEROS,
    DISTRIBUTIONS,
    LEAST_PROBABILITY,
    PROPORTIONAL,
    QUARTERS,
    SOME_TINY,
)
from grpo_ref.course.grading.domain.domain import Domain, Rule
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain

DOMAIN = Domain(
    {
        "probs": Real(
            "V|N V|B N V",
            (0, 1),
            rows=DISTRIBUTIONS,
            least=LEAST_PROBABILITY,
            meaning="π, the policy's probabilities, the V tokens of the vocabulary last; each row sums to 1",
        ),
        "ref_probs": Real(
            "V|N V|B N V",
            (0, 1),
            usual=((-0.01, 0.01), (0, 1)),
            near="probs",
            least=LEAST_PROBABILITY,
            rows=(PROPORTIONAL, SOME_TINY, QUARTERS, ALIKE_THEN_ZEROS),
            meaning="πref, the reference's; each row sums to 1",
        ),
    },
    sizes={"B": (1, 2), "N": (1, 3), "V": (1, 5)},
    large={"V": 80, "N": 30},
    rules=(
        Rule(
            "Where ref_probs is 0, probs is 0 too, and the token adds 0.",
            lambda values: (
                not ((np.asarray(values["ref_probs"]) == 0) & (np.asarray(values["probs"]) > 0)).any()
            ),
        ),
    ),
)


def _reference(probs: Any, ref_probs: Any) -> Any:
    with np.errstate(divide="ignore"):
        return penalties.exact_kl(
            np.log(np.asarray(probs, float)), np.log(np.asarray(ref_probs, float))
        ).value


P, Q = np.array([[0.5, 0.5, 0.0]]), np.array([[0.75, 0.25, 0.0]])
HALVES = np.log(2.0) - np.log(3.0) / 2

PROBLEM = Problem(
    id="kl/exact_kl",
    title="How far from the reference?",
    function="exact_kl",
    reference=_reference,
    background=(
        "A language model is a policy: in every state it gives each token of its vocabulary a probability. Training"
        " for reward changes these probabilities, and may drive the model far from sensible text. So a frozen copy"
        " of the model from before the training is kept, the reference, and the distance between the two is"
        " watched or punished. The distance is the Kullback-Leibler divergence, KL for short: how much likelier, as"
        " a logarithm, the policy finds a token than the reference does, on average over the tokens that the policy"
        " draws. It is 0 if both agree, and positive otherwise."
    ),
    task=(
        "Write `exact_kl(probs, ref_probs)`. It sums over the whole vocabulary, which is the last axis:\n\n"
        "    KL(π ‖ πref) = Σₐ πₐ log(πₐ / πrefₐ)\n\n"
        "The logarithm is the natural one. A token a that the policy never draws adds nothing: 0 log 0 counts as 0,"
        " whatever the reference says of the token. Every other token counts, however small its probability is."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="One number per row, in nats: the shape of probs without its last axis; a number for a single row.",
    notes=(
        "The order matters: KL(πref ‖ π) is another number. Trainers seldom have the whole vocabulary at hand;"
        " how they estimate the KL from the sampled token is the subject of the next exercises."
    ),
    kernel="grpo_ref.exact_kl",
    source="Kullback & Leibler 1951, On information and sufficiency, sec. 2.",
    hints=(
        "Which tokens contribute nothing, whatever the reference says?",
        "Replace the probabilities of impossible tokens by 1 inside the logarithms.",
        "possible = p > 0; (p * (np.log(np.where(possible, p, 1)) - np.log(np.where(possible, q, 1)))).sum(-1)",
    ),
    checks=(
        Case(
            "A fair coin against 3:1",
            ([[0.5, 0.5]], [[0.75, 0.25]]),
            np.array([HALVES]),
            why="The quotients are 1/2 : 3/4 = 2/3 and 1/2 : 1/4 = 2, so it is 1/2 log(2/3) + 1/2 log 2 = log 2 - (log 3)/2.",
            shown=True,
        ),
        Case("Equal policies", (np.full((2, 4), 0.25), np.full((2, 4), 0.25)), np.zeros(2), why="log 1 = 0"),
        Case("A banned token", (P, Q), np.array([HALVES]), why="0 log(0/0) counts nothing"),
        Case(
            "A token given up",
            ([[1.0, 0.0]], [[0.5, 0.5]]),
            np.log([2.0]),
            why="0 log 0 counts nothing; log 2 is left",
        ),
        Case(
            "A nearly impossible token counts",
            ([5e-13, 1 - 5e-13], [1e-4, 1 - 1e-4]),
            5e-13 * np.log(5e-9) + (1 - 5e-13) * (np.log1p(-5e-13) - np.log1p(-1e-4)),
            why="5e-13 log(5e-9) is a ten-millionth of the whole, and nothing is added inside the logarithms",
        ),
        Case("A single row", ([0.5, 0.5], [0.75, 0.25]), HALVES, why="one number for one row"),
        Unchanged((P, Q)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("reversed", lambda p, q: _reference(q, p), "This is KL(πref ‖ π), the other way round."),
        Mutant(
            "NaN for zeros",
            lambda p, q: (np.asarray(p) * np.log(np.divide(p, q))).sum(-1),
            "0 log 0 has become NaN.",
        ),
        Mutant("bits", lambda p, q: _reference(p, q) / np.log(2.0), "This is in bits; nats are asked for."),
        Mutant(
            "mean for sum",
            lambda p, q: _reference(p, q) / np.shape(p)[-1],
            "It is a sum over the vocabulary.",
        ),
        Mutant("negated", lambda p, q: -_reference(p, q), "A KL is never negative."),
        Mutant("all rows together", lambda p, q: np.sum(_reference(p, q)), "Each row has a KL of its own."),
        Mutant(
            "cross-entropy",
            lambda p, q: -(np.asarray(p) * np.log(np.maximum(q, 1e-300))).sum(-1),
            "This is the cross-entropy: the entropy is still in it.",
        ),
        Mutant(
            "a small number inside",
            lambda p, q: (np.asarray(p) * np.log((np.asarray(p) + 1e-12) / (np.asarray(q) + 1e-12))).sum(-1),
            "A small number inside shifts every value.",
        ),
        Mutant(
            "absolute",
            lambda p, q: np.abs(
                np.asarray(p) * np.log(np.where(np.asarray(p) > 0, p, 1) / np.where(np.asarray(p) > 0, q, 1))
            ).sum(-1),
            "The terms are added with their signs.",
        ),
        Mutant(
            "unweighted",
            lambda p, q: np.log(np.where(np.asarray(p) > 0, p, 1) / np.where(np.asarray(p) > 0, q, 1)).mean(
                -1
            ),
            "The logarithms are weighted by π.",
        ),
    ),
    others={
        "SciPy's way": lambda p, q: np.where(
            np.asarray(p) > 0,
            np.asarray(p) * (np.log(np.maximum(p, 1e-300)) - np.log(np.maximum(q, 1e-300))),
            0,
        ).sum(-1)
    },
)
