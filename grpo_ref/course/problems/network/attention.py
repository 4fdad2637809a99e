"""Exercise: causal attention."""

from typing import Any

import numpy as np

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
from grpo_ref.course.problems.heads import (
    LARGE,
    SIZES,
    queries_keys_values,
    scores_of,
    transposed,
    up_to_itself,
    weights_of,
)
from grpo_ref.learning.policies import layers

DOMAIN = Domain(queries_keys_values((-100.0, 100.0), (-1e4, 1e4)), sizes=SIZES, large=LARGE)


def _reference(queries: Any, keys: Any, values: Any) -> Any:
    return layers.attention(*(np.asarray(each, float) for each in (queries, keys, values)))[0]


def _of(scores: Any = scores_of, may: Any = up_to_itself, weights: Any = weights_of) -> Function:
    def answer(queries: Any, keys: Any, values: Any) -> Any:
        q, k, v = (np.asarray(each, float) for each in (queries, keys, values))
        s = scores(q, k)
        return weights(s, may(s)) @ v

    return answer


def _softmax(scores: Any) -> Any:
    return weights_of(scores, np.ones(scores.shape[-2:], dtype=bool))


def _unstable(scores: Any, may: Any) -> Any:
    exponentials = np.exp(scores) * may
    return exponentials / exponentials.sum(-1, keepdims=True)


def _shifted_by(maximum: Any) -> Any:
    return lambda scores, may: _unstable(scores - maximum(scores, may), may)


def _one_maximum(scores: Any, may: Any) -> Any:
    return np.max(scores, where=may, initial=-np.inf)


QUERIES = np.array([[0.5, -1.0], [2.0, 0.3], [-0.7, 0.4]])
KEYS = np.array([[1.0, 0.2], [-0.4, 0.9], [0.6, -1.5]])
VALUES = np.array([[3.0, -2.0], [0.5, 1.0], [4.0, 6.0]])


def _future_does_not_matter(f: Function) -> str | None:
    keys, values = KEYS.copy(), VALUES.copy()
    keys[2], values[2] = [-5.0, 2.0], [100.0, -100.0]
    before, after = f(QUERIES, KEYS, VALUES), f(QUERIES, keys, values)
    same = np.allclose(np.asarray(before)[:2], np.asarray(after)[:2])
    return None if same else "another last token changed what an earlier one sees"


def _weights_sum_to_one(f: Function) -> str | None:
    outputs = np.asarray(f(QUERIES, KEYS, np.full((3, 2), 7.0)))
    return None if np.allclose(outputs, 7.0) else "where all values are 7, every mean of them is 7"


PROBLEM = Problem(
    id="network/attention",
    title="How a token looks back",
    function="attention",
    reference=_reference,
    background=(
        "A table has a row of logits for each situation, and there are far too many situations in a language. A"
        " network computes the logits instead, from a row of numbers for each token of the text so far. For this the"
        " tokens have to exchange what they know, and attention is how they do: each token asks a question (its"
        " query), each offers a label (its key) and something to say (its value). The better a label fits the"
        " question, the more of what it stands for is listened to. A token may look at itself and at what came before"
        " it, never at what comes after: that is what it is to predict."
    ),
    task=(
        "Write `attention(queries, keys, values)`, causal attention with one head:\n\n"
        "    s[i, j] = q[i] · k[j] / √D\n"
        "    A[i, j] = exp(s[i, j]) / Σ_{m <= i} exp(s[i, m])  for j <= i,    A[i, j] = 0  for j > i\n"
        "    o[i] = Σ_j A[i, j] v[j]\n\n"
        "q[i], k[i] and v[i] are the query, the key and the value of token i, rows of D numbers each; D is the length"
        " of a row, and q · k is the sum of the products. So each o[i] is a mean of values, weighted with a softmax"
        " over the tokens up to i. With a third axis before them there are B sequences, each of which is by itself."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="o, an array of the shape of the inputs.",
    constraints=(
        "Every result is finite, however large the scores are: nothing overflows, neither a score of a thousand nor"
        " that of a later token, which does not count.\n"
        "The first token sees itself alone: o[0] = v[0]."
    ),
    notes=(
        "A transformer does this with several heads side by side and in each of its layers; q, k and v are products of"
        " the tokens' rows with weights that are learned. grpo_ref lays the scores out with the keys first, since"
        " NumPy takes a maximum over that axis several times faster."
    ),
    kernel="grpo_ref.learning.policies.layers.attention",
    source="Vaswani et al. 2017, eq. 1 (arXiv:1706.03762).",
    hints=(
        "All scores are one matrix product. Which of them may a token not see, and what is exp(-∞)?",
        "np.where(np.tri(T, dtype=bool), scores, -np.inf), and then a softmax along the last axis, as in chapter 1.",
        "weights = np.exp(scores - scores.max(-1, keepdims=True)); weights @ values / weights.sum(-1, keepdims=True)",
    ),
    checks=(
        Case(
            "One number a token",
            ([[1.0], [1.0]], [[0.0], [np.log(3.0)]], [[4.0], [8.0]]),
            np.array([[4.0], [7.0]]),
            why=(
                "The first token sees itself alone. The second has the scores 0 and log 3, exponentials 1 and 3, so"
                " weights 1/4 and 3/4: 4/4 + 8 · 3/4 = 7."
            ),
            shown=True,
        ),
        Case(
            "Four numbers a token",
            (
                [[0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]],
                [[0.0, 0.0, 0.0, 0.0], [np.log(3.0), 0.0, 0.0, 0.0]],
                [[4.0, 0.0, 0.0, 1.0], [8.0, 0.0, 4.0, 1.0]],
            ),
            np.array([[4.0, 0.0, 0.0, 1.0], [7.0, 0.0, 3.0, 1.0]]),
            why="q · k = 2 log 3 and √4 = 2, so the weights of the second token are 1/4 and 3/4 again.",
            shown=True,
        ),
        Case(
            "Two sequences do not mix",
            (
                np.ones((2, 2, 1)),
                np.array([[[0.0], [np.log(3.0)]], [[0.0], [0.0]]]),
                np.array([[[4.0], [8.0]], [[1.0], [3.0]]]),
            ),
            np.array([[[4.0], [7.0]], [[1.0], [2.0]]]),
            why="weights 1/4, 3/4 in the first sequence and 1/2, 1/2 in the second",
        ),
        Case(
            "A loud token that comes later",
            ([[1.0], [1.0]], [[0.0], [1000.0]], [[1.0], [2.0]]),
            np.array([[1.0], [2.0]]),
            why="the first token does not see the score of 1000; the second looks at nothing else",
        ),
        Case(
            "A quiet token beside a loud one",
            ([[100.0], [-100.0]], [[100.0], [100.0]], [[1.0], [3.0]]),
            np.array([[1.0], [2.0]]),
            why="scores of 10000 in the first row, and of -10000 twice in the second: equal, so a half each",
        ),
        Holds("The future does not matter", _future_does_not_matter, why="no token sees a later one"),
        Holds("The weights of a token sum to one", _weights_sum_to_one, why="o is a mean of values"),
        Unchanged((QUERIES, KEYS, VALUES)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
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
            lambda q, k, v: _reference(q, k, k),
            "The mean is of the values, not of the keys.",
        ),
    ),
    others={
        "token by token": lambda q, k, v: np.stack(
            [
                _reference(*(np.asarray(each, float)[..., : i + 1, :] for each in (q, k, v)))[..., -1, :]
                for i in range(np.shape(q)[-2])
            ],
            axis=-2,
        ),
    },
)
