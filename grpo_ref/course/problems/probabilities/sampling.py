"""From a uniform number to a token."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Real
from grpo_ref.course.grading.domain.distributions import DISTRIBUTIONS, LEAST_PROBABILITY
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain

LARGEST = float(np.nextafter(1.0, 0.0))
"""The largest uniform number below 1."""

DOMAIN = Domain(
    {
        "probs": Real(
            "N V",
            (0, 1),
            rows=DISTRIBUTIONS,
            least=LEAST_PROBABILITY,
            meaning="p, a distribution over the vocabulary in each row; it sums to 1 up to rounding",
        ),
        "uniforms": Real(
            "N",
            (0, LARGEST),
            usual=((0, 1),),
            at=(0.25, 0.5, 0.75, LARGEST),
            meaning="u, one number below 1 for each row",
        ),
    },
    sizes={"N": (1, 5), "V": (1, 6)},
    large={"N": 40, "V": 300},
)


def _reference(probs: Any, uniforms: Any) -> Any:
    probs, uniforms = np.asarray(probs, dtype=float), np.asarray(uniforms, dtype=float)
    tokens = (probs.cumsum(-1) <= uniforms[:, None]).sum(-1)
    last_possible = probs.shape[-1] - 1 - (probs[:, ::-1] > 0).argmax(-1)
    return np.minimum(tokens, last_possible)


def _of(formula: Any) -> Function:
    return lambda probs, uniforms: formula(np.asarray(probs, dtype=float), np.asarray(uniforms, dtype=float))


PROBLEM = Problem(
    id="probabilities/sampling",
    title="From a uniform number to a token",
    function="sample_tokens",
    reference=_reference,
    background=(
        "Before the policy, the language model in training, can learn from its answers it has to give some:"
        " at every position it draws a token with the probabilities that it has for the vocabulary. Think of"
        " the probabilities as lengths, laid end to end on the line from 0 to 1. A random number that falls"
        " on the line evenly, a uniform number, falls on a token's stretch just as often as its probability"
        " says. With the uniform numbers given from outside, sampling is an ordinary function: the same"
        " numbers give the same tokens, and a bug can be repeated."
    ),
    task=(
        "Write `sample_tokens(probs, uniforms)`. For each row it gives the first token at which the sum of the"
        " probabilities so far is larger than the uniform number:\n\n"
        "    token = min { a : p₀ + ... + pₐ > u }\n\n"
        "Where u is exactly equal to a sum, that sum is not larger. Computed sums are rounded, and the last one may"
        " come out a little below 1: if u is not below it, there is no such token, and the answer is the last token"
        " whose probability is not 0."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(N,) tokens, whole numbers from 0 to V - 1.",
    constraints=(
        "A token of probability 0 is never drawn, whatever u is; one of probability 1e-12 can be.\n"
        "How the sums are rounded does not matter: where u is equal to a sum, the probabilities are multiples"
        " of 1/4, whose sums are exact, or u and the sum are both 0.\n"
        "There is at least one row and one token."
    ),
    notes=(
        "Trainers call `torch.multinomial`. vLLM divides the probabilities by exponential random numbers and takes the"
        " token with the largest quotient, which draws with the same probabilities."
    ),
    source="Devroye 1986, Non-uniform random variate generation, ch. 3 (inversion by sequential search).",
    hints=(
        "How many cumulative sums are not larger than u?",
        "np.cumsum along the last axis; compare with uniforms[:, None]; count the True ones of each row. Then hold the"
        " count at the last token that can come: np.argmax(p[:, ::-1] > 0, -1) counts the zeros at the end of a row.",
        "np.minimum((np.cumsum(p, -1) <= u[:, None]).sum(-1), V - 1 - np.argmax(p[:, ::-1] > 0, -1))",
    ),
    checks=(
        Case(
            "Three draws from a half and two quarters",
            ([[0.5, 0.25, 0.25]] * 3, [0.1, 0.6, 0.9]),
            np.array([0, 1, 2]),
            why="The sums are 0.5, 0.75 and 1. The first that is larger than 0.1 is 0.5, for 0.6 it is 0.75, for 0.9 it is 1.",
            shown=True,
        ),
        Case(
            "On the edge",
            ([[0.5, 0.5], [0.5, 0.5]], [0.5, 0.0]),
            np.array([1, 0]),
            why="0.5 is not larger than 0.5, so the next token comes; but it is larger than 0",
        ),
        Case(
            "What is impossible is never drawn",
            ([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]], [0.0, 0.5]),
            np.array([1, 2]),
            why="0 is not larger than 0, and the second token adds nothing to 0.5",
        ),
        Case(
            "Rounding does not lead past the end",
            (np.full((1, 10), 0.1), [LARGEST]),
            np.array([9]),
            why="ten times 0.1 adds up to less than 1",
        ),
        Case(
            "Rounding does not lead to an impossible token",
            ([[0.1] * 10 + [0.0]], [LARGEST]),
            np.array([9]),
            why="the sums end below u, and the last token has probability 0: the one before it is due",
        ),
        Case(
            "A hair beside the edge",
            (
                [[0.5, 0.5], [0.5, 0.5], [1e-12, 1 - 1e-12], [1e-12, 1 - 1e-12]],
                [0.5 - 1e-10, 0.5, 5e-13, 2e-12],
            ),
            np.array([0, 1, 0, 1]),
            why="u is compared exactly: 0.5 is larger than 0.5 - 1e-10, and 1e-12 is larger than 5e-13",
        ),
        Unchanged((np.array([[0.5, 0.5]]), np.array([0.7]))),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("greedy", _of(lambda p, u: p.argmax(-1)), "This takes the likeliest token and never samples."),
        Mutant(
            "edge on the wrong side",
            _of(lambda p, u: (p.cumsum(-1)[:, :-1] < u[:, None]).sum(-1)),
            "At u equal to a cumulative sum the next token is due: a token of probability 0 could be drawn here.",
        ),
        Mutant(
            "past the end",
            _of(lambda p, u: (p.cumsum(-1) <= u[:, None]).sum(-1)),
            "Rounding can leave the last sum below u; the count then runs past the last token.",
        ),
        Mutant(
            "the last token beyond the sums",
            _of(lambda p, u: (p.cumsum(-1)[:, :-1] <= u[:, None]).sum(-1)),
            "A number beyond the last sum gives the last token here, even if its probability is 0.",
        ),
        Mutant(
            "uniform over tokens",
            _of(lambda p, u: (u * p.shape[-1]).astype(int)),
            "The probabilities are not used.",
        ),
        Mutant("from the other end", _of(lambda p, u: _reference(p, 1 - u)), "This inverts at 1 - u."),
        Mutant(
            "not cumulative",
            _of(lambda p, u: np.minimum((p <= u[:, None]).sum(-1), p.shape[-1] - 1)),
            "The probabilities are compared themselves; it is their running sum that counts.",
        ),
        Mutant(
            "one distribution for all",
            _of(lambda p, u: _reference(np.broadcast_to(p[:1], p.shape), u)),
            "Every row has its own distribution.",
        ),
        Mutant(
            "sorted first",
            _of(lambda p, u: _reference(np.sort(p, -1), u)),
            "Sorting the probabilities changes which token is which.",
        ),
    ),
    others={
        "a loop": lambda p, u: [
            min(int(np.searchsorted(np.cumsum(row), x, side="right")), int(np.flatnonzero(row)[-1]))
            for row, x in zip(np.asarray(p), u, strict=True)
        ]
    },
)
