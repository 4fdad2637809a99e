"""Wrong answers to `network/attention`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.heads import attention_scores, causal_mask, masked_softmax, transposed
from grpo_ref.course.exercises.network.attention.tests import reference


def _answer(scores=attention_scores, mask=causal_mask, weights=masked_softmax):
    def answer(queries, keys, values):
        q, k, v = (np.asarray(each, float) for each in (queries, keys, values))
        s = scores(q, k)
        return weights(s, mask(s)) @ v

    return answer


def _softmax(scores):
    return masked_softmax(scores, np.ones(scores.shape[-2:], dtype=bool))


def _unstable(scores, mask):
    exponentials = np.exp(scores) * mask
    return exponentials / exponentials.sum(-1, keepdims=True)


def _shifted_by(maximum):
    return lambda scores, mask: _unstable(scores - maximum(scores, mask), mask)


def _over_all_scores(scores, mask):
    exponentials = np.exp(np.where(mask, scores - np.max(scores, where=mask, initial=-np.inf), -np.inf))
    return exponentials / exponentials.sum((-1, -2), keepdims=True)


WRONG = (
    Mutant(
        "not causal",
        _answer(mask=lambda s: np.ones_like(s, dtype=bool)),
        "Lets each token attend to all tokens; the weights of later tokens must be 0.",
    ),
    Mutant(
        "the future alone",
        _answer(mask=lambda s: causal_mask(s).T),
        "Lets each token attend to itself and later tokens, not to itself and earlier tokens.",
    ),
    Mutant(
        "not itself",
        _answer(mask=lambda s: np.tri(s.shape[-1], k=-1, dtype=bool) | (np.arange(s.shape[-1]) == 0)),
        "Gives a token no weight of its own; the sum includes j = i.",
    ),
    Mutant(
        "one token further",
        _answer(mask=lambda s: np.tri(s.shape[-1], k=1, dtype=bool)),
        "Lets each token attend to the next one as well; j = i is the last token that it sees.",
    ),
    Mutant(
        "not scaled",
        _answer(scores=lambda q, k: q @ transposed(k)),
        "Does not divide the scores by √D.",
    ),
    Mutant(
        "multiplied by the root",
        _answer(scores=lambda q, k: q @ transposed(k) * np.sqrt(q.shape[-1])),
        "Multiplies the scores by √D instead of dividing them.",
    ),
    Mutant(
        "divided by D",
        _answer(scores=lambda q, k: q @ transposed(k) / q.shape[-1]),
        "Divides the scores by D; the formula has the root of D.",
    ),
    Mutant(
        "divided by the root of T",
        _answer(scores=lambda q, k: q @ transposed(k) / np.sqrt(q.shape[-2])),
        "Divides the scores by the root of the number of tokens; D is the length of a row.",
    ),
    Mutant(
        "queries and keys exchanged",
        _answer(scores=lambda q, k: attention_scores(k, q)),
        "Exchanges queries and keys; row i of the scores has the query of token i.",
    ),
    Mutant(
        "softmax over the queries",
        _answer(weights=lambda s, mask: transposed(masked_softmax(transposed(s), mask.T))),
        "Normalizes the weights over the queries i; for each i the weights sum to 1 over the keys j.",
    ),
    Mutant(
        "one softmax over all scores",
        _answer(weights=_over_all_scores),
        "Divides by one sum over all rows of the weights; each row has a sum of its own.",
    ),
    Mutant(
        "scores of 0 for later tokens",
        _answer(weights=lambda s, mask: _softmax(s * mask)),
        "Gives later tokens the score 0, which is a weight of e⁰ = 1 before the division.",
    ),
    Mutant(
        "scores of -10000 for later tokens",
        _answer(weights=lambda s, mask: _softmax(np.where(mask, s, -10000.0))),
        "Gives later tokens the score -10000; an allowed score can be lower than that.",
    ),
    Mutant(
        "masked after the softmax",
        _answer(weights=lambda s, mask: _softmax(s) * mask),
        "Counts later tokens in the sum that divides, so the weights of a token sum to less than 1.",
    ),
    Mutant(
        "no maximum subtracted",
        _answer(weights=_unstable),
        "Exponentiates large scores, which overflow; subtract the maximum of each row first.",
    ),
    Mutant(
        "one maximum for all tokens",
        _answer(weights=_shifted_by(lambda s, mask: np.max(s, where=mask, initial=-np.inf))),
        "Subtracts one maximum from all rows of scores; the exponentials of a much lower row are all 0.",
    ),
    Mutant(
        "the maximum includes later tokens",
        _answer(weights=_shifted_by(lambda s, mask: s.max(-1, keepdims=True))),
        "Includes later tokens in the maximum; if their score is much higher, all other exponentials are 0.",
    ),
    Mutant(
        "keys for values",
        lambda q, k, v: reference(q, k, k),
        "Returns a weighted mean of the keys, not of the values.",
    ),
)
