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


def _future_does_not_matter(f):
    keys, values = KEYS.copy(), VALUES.copy()
    keys[2], values[2] = [-5.0, 2.0], [100.0, -100.0]
    before, after = f(QUERIES, KEYS, VALUES), f(QUERIES, keys, values)
    same = np.allclose(np.asarray(before)[:2], np.asarray(after)[:2])
    return None if same else "another last token changed what an earlier one sees"


def _weights_sum_to_one(f):
    outputs = np.asarray(f(QUERIES, KEYS, np.full((3, 2), 7.0)))
    return None if np.allclose(outputs, 7.0) else "where all values are 7, every mean of them is 7"


CHECKS = (
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
)
