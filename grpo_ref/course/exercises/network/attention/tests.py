"""The tests of `network/attention`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Holds, Unchanged
from grpo_ref.course.exercises.heads import LARGE, SIZES, queries_keys_values
from grpo_ref.learning.policies import layers

DOMAIN = Domain(queries_keys_values((-100.0, 100.0), (-1e4, 1e4)), sizes=SIZES, large=LARGE)


def reference(queries, keys, values):
    return layers.attention(*(np.asarray(each, float) for each in (queries, keys, values)))[0]


QUERIES = np.array([[0.5, -1.0], [2.0, 0.3], [-0.7, 0.4]])

KEYS = np.array([[1.0, 0.2], [-0.4, 0.9], [0.6, -1.5]])

VALUES = np.array([[3.0, -2.0], [0.5, 1.0], [4.0, 6.0]])


def _later_tokens_do_not_matter(f):
    keys, values = KEYS.copy(), VALUES.copy()
    keys[2], values[2] = [-5.0, 2.0], [100.0, -100.0]
    before, after = f(QUERIES, KEYS, VALUES), f(QUERIES, keys, values)
    same = np.allclose(np.asarray(before)[:2], np.asarray(after)[:2])
    return None if same else "a change of the last token changed the output of an earlier token"


def _weights_sum_to_one(f):
    outputs = np.asarray(f(QUERIES, KEYS, np.full((3, 2), 7.0)))
    return None if np.allclose(outputs, 7.0) else "all values are 7, so every weighted mean of them is 7"


CHECKS = (
    Case(
        "A weighted mean",
        ([[1.0], [1.0]], [[0.0], [np.log(3.0)]], [[4.0], [8.0]]),
        np.array([[4.0], [7.0]]),
        why=(
            "The first token sees only itself. The second token has the scores 0 and log 3, so its weights are 1/4"
            " and 3/4: 4 · 1/4 + 8 · 3/4 = 7."
        ),
        shown=True,
    ),
    Case(
        "Four numbers per token",
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
        "A large score of a later token",
        ([[1.0], [1.0]], [[0.0], [1000.0]], [[1.0], [2.0]]),
        np.array([[1.0], [2.0]]),
        why="The first token does not see the score of 1000. The second token gives it all its weight.",
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
        why="The weights are 1/4 and 3/4 in the first sequence, and 1/2 and 1/2 in the second.",
    ),
    Case(
        "Rows of very different scores",
        ([[100.0], [-100.0]], [[100.0], [100.0]], [[1.0], [3.0]]),
        np.array([[1.0], [2.0]]),
        why="The score in the first row is 10000. Both scores in the second row are -10000, so each weight is 1/2.",
    ),
    Case(
        "Scores of -20000",
        (np.full((2, 4), 100.0), np.full((2, 4), -100.0), [[1.0, 0.0, 2.0, 0.0], [3.0, 0.0, 0.0, 0.0]]),
        np.array([[1.0, 0.0, 2.0, 0.0], [2.0, 0.0, 1.0, 0.0]]),
        why="All scores are -20000. The first token still sees only itself, and the second has two weights of 1/2.",
    ),
    Holds(
        "Later tokens do not matter", _later_tokens_do_not_matter, why="Attention is causal: j is at most i."
    ),
    Holds("The weights of a token sum to 1", _weights_sum_to_one, why="Each output is a mean of values."),
    Unchanged((QUERIES, KEYS, VALUES)),
)
