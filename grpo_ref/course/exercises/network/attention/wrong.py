"""Wrong answers to `network/attention`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.heads import scores_of, transposed, up_to_itself, weights_of
from grpo_ref.course.exercises.network.attention.tests import reference


def _of(scores=scores_of, may=up_to_itself, weights=weights_of):
    def answer(queries, keys, values):
        q, k, v = (np.asarray(each, float) for each in (queries, keys, values))
        s = scores(q, k)
        return weights(s, may(s)) @ v

    return answer


def _softmax(scores):
    return weights_of(scores, np.ones(scores.shape[-2:], dtype=bool))


def _unstable(scores, may):
    exponentials = np.exp(scores) * may
    return exponentials / exponentials.sum(-1, keepdims=True)


def _shifted_by(maximum):
    return lambda scores, may: _unstable(scores - maximum(scores, may), may)


def _one_maximum(scores, may):
    return np.max(scores, where=may, initial=-np.inf)


WRONG = (
    Mutant(
        "not causal",
        _of(may=lambda s: np.ones_like(s, dtype=bool)),
        "Tokens see what comes after them.",
    ),
    Mutant(
        "the future alone",
        _of(may=lambda s: up_to_itself(s).T),
        "Tokens see later ones, not earlier ones.",
    ),
    Mutant(
        "not itself",
        _of(may=lambda s: np.tri(s.shape[-1], k=-1, dtype=bool) | (np.arange(s.shape[-1]) == 0)),
        "A token sees itself too: j ≤ i.",
    ),
    Mutant(
        "one token further",
        _of(may=lambda s: np.tri(s.shape[-1], k=1, dtype=bool)),
        "Each token sees the next one as well.",
    ),
    Mutant("not scaled", _of(scores=lambda q, k: q @ transposed(k)), "The scores are not divided by √D."),
    Mutant(
        "divided by D",
        _of(scores=lambda q, k: q @ transposed(k) / q.shape[-1]),
        "The scores are divided by D, not by its root.",
    ),
    Mutant(
        "divided by the root of T",
        _of(scores=lambda q, k: q @ transposed(k) / np.sqrt(q.shape[-2])),
        "D is the length of a row, not the number of tokens.",
    ),
    Mutant(
        "queries and keys exchanged",
        _of(scores=lambda q, k: scores_of(k, q)),
        "Queries and keys are exchanged: row i of the scores has the query of token i.",
    ),
    Mutant(
        "softmax over the queries",
        _of(weights=lambda s, may: transposed(weights_of(transposed(s), may.T))),
        "The softmax runs over the tokens that are looked at, the last axis of the scores.",
    ),
    Mutant(
        "scores of 0 for later tokens",
        _of(weights=lambda s, may: _softmax(s * may)),
        "A score of 0 is a weight of e⁰ = 1; what may not be seen has the score -∞.",
    ),
    Mutant(
        "masked after the softmax",
        _of(weights=lambda s, may: _softmax(s) * may),
        "Later tokens take part in the sum below, so that the weights sum to less than 1.",
    ),
    Mutant("no maximum subtracted", _of(weights=_unstable), "Large scores overflow."),
    Mutant(
        "one maximum for all tokens",
        _of(weights=_shifted_by(_one_maximum)),
        "One maximum is taken for all rows of scores; a row far below it underflows.",
    ),
    Mutant(
        "the maximum of what may not be seen",
        _of(weights=_shifted_by(lambda s, may: s.max(-1, keepdims=True))),
        "The maximum is taken over later tokens too; where theirs is far larger, the rest underflows.",
    ),
    Mutant(
        "keys for values",
        lambda q, k, v: reference(q, k, k),
        "The mean is of the values, not of the keys.",
    ),
)
