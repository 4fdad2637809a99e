"""From a uniform number to a token."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Case, Drawn, Function, Mutant, Problem, Unchanged, changing_inputs


def _reference(probs: Any, uniforms: Any) -> Any:
    probs, uniforms = np.asarray(probs, dtype=float), np.asarray(uniforms, dtype=float)
    return (probs.cumsum(-1)[:, :-1] <= uniforms[:, None]).sum(-1)


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return rng.dirichlet(np.ones(size + 1), size + 1), rng.random(size + 1)


def _of(formula: Any) -> Function:
    return lambda probs, uniforms: formula(np.asarray(probs, dtype=float), np.asarray(uniforms, dtype=float))


PROBLEM = Problem(
    id="probabilities/sampling",
    title="From a uniform number to a token",
    function="sample_tokens",
    reference=_reference,
    background=(
        "A policy is sampled by inverting its distribution function. With the random numbers given from outside,"
        " sampling is an ordinary function: the same numbers give the same tokens, and a bug can be repeated."
    ),
    task=(
        "Write `sample_tokens(probs, uniforms)`: for each row the first token whose cumulative probability is larger"
        " than the uniform number:\n\n"
        "    token = min { a : p₀ + ... + pₐ > u }"
    ),
    inputs="probs: (N, V), each row sums to 1, up to rounding.\nuniforms: (N,) numbers u in [0, 1).",
    output="(N,) tokens, whole numbers from 0 to V - 1.",
    constraints="A token of probability 0 is never drawn.\nRounding may leave the last sum a little below 1; a number beyond it means token V - 1.",
    source="inverse transform sampling; Devroye 1986, Non-uniform random variate generation, ch. 3.",
    hints=(
        "How many cumulative sums are not larger than u?",
        "np.cumsum along the last axis; compare with uniforms[:, None]; count the True ones of each row.",
        "(np.cumsum(probs, -1)[:, :-1] <= uniforms[:, None]).sum(-1): the last sum stays out, so the count ends at V - 1.",
    ),
    checks=(
        Case(
            "Three draws from a half and two quarters",
            ([[0.5, 0.25, 0.25]] * 3, [0.1, 0.6, 0.9]),
            np.array([0, 1, 2]),
            why="the sums are 0.5, 0.75 and 1",
            shown=True,
        ),
        Case(
            "On the edge",
            ([[0.5, 0.5], [0.5, 0.5]], [0.5, 0.0]),
            np.array([1, 0]),
            why="0.5 is not larger than 0.5",
        ),
        Case(
            "What is impossible is never drawn",
            ([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]], [0.0, 0.5]),
            np.array([1, 2]),
            why="0 is not larger than 0, and the second token adds nothing to 0.5",
        ),
        Case(
            "Rounding does not lead past the end",
            (np.full((1, 10), 0.1), [np.nextafter(1.0, 0.0)]),
            np.array([9]),
            why="ten times 0.1 adds up to less than 1",
        ),
        Unchanged((np.array([[0.5, 0.5]]), np.array([0.7]))),
        Drawn("Random rows agree", _draw, why="each row has its own distribution"),
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
            min(int(np.searchsorted(np.cumsum(row), x, side="right")), len(row) - 1)
            for row, x in zip(np.asarray(p), u, strict=True)
        ]
    },
)
