"""The tests of `network/attention_slope`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Holds, Real, Unchanged
from grpo_ref.course.exercises.heads import AXES, LARGE, ROWS, SIZES, queries_keys_values
from grpo_ref.learning.policies import layers

DOMAIN = Domain(
    queries_keys_values((-30.0, 30.0), (-100.0, 100.0))
    | {"slope": Real(AXES, (-100.0, 100.0), rows=ROWS, meaning="g = ∂L/∂o, a row for each token")},
    sizes=SIZES,
    large=LARGE,
)


def reference(queries, keys, values, slope):
    kept = layers.attention(*(np.asarray(each, float) for each in (queries, keys, values)))[1]
    return layers.attention_back(np.asarray(slope, float), kept)


QUERIES = np.array([[0.5, -1.0], [2.0, 0.3], [-0.7, 0.4]])

KEYS = np.array([[1.0, 0.2], [-0.4, 0.9], [0.6, -1.5]])

VALUES = np.array([[3.0, -2.0], [0.5, 1.0], [4.0, 6.0]])

SLOPE = np.array([[1.0, 0.5], [-2.0, 0.7], [0.4, 3.0]])

H = 1e-6


def _is_the_derivative(f):
    given = (QUERIES, KEYS, VALUES)
    returned = f(*given, SLOPE)
    for name, position in (("q", 0), ("k", 1), ("v", 2)):
        numerical = np.zeros((3, 2))
        for place in np.ndindex(3, 2):
            ends = []
            for step in (H, -H):
                moved = [each.copy() for each in given]
                moved[position][place] += step
                ends.append(float((layers.attention(*moved)[0] * SLOPE).sum()))
            numerical[place] = (ends[0] - ends[1]) / (2.0 * H)
        if not np.allclose(returned[position], numerical, rtol=1e-6, atol=1e-7):
            return f"∂L/∂{name} differs from a central difference of L = Σ g o"
    return None


def _nothing_from_the_past(f):
    _, keys, values = f(QUERIES, KEYS, VALUES, np.array([[1.0, 0.5], [0.0, 0.0], [0.0, 0.0]]))
    silent = np.allclose(np.asarray(keys)[1:], 0.0) and np.allclose(np.asarray(values)[1:], 0.0)
    return None if silent else "a slope on the first output alone reached the keys or values of later tokens"


def _equal_values(f):
    queries, keys, _ = f(QUERIES, KEYS, np.full((3, 2), 2.0), SLOPE)
    still = np.allclose(queries, 0.0) and np.allclose(keys, 0.0)
    return None if still else "where all values are equal, no query and no key changes anything"


CHECKS = (
    Case(
        "One number a token",
        ([[1.0], [1.0]], [[0.0], [np.log(3.0)]], [[4.0], [8.0]], [[0.0], [1.0]]),
        (
            np.array([[0.0], [0.75 * np.log(3.0)]]),
            np.array([[-0.75], [0.75]]),
            np.array([[0.25], [0.75]]),
        ),
        why=(
            "Only the output of the second token has a slope, 1. Its weights are 1/4 and 3/4, and δ = 4/4 + 8 · 3/4"
            " = 7. So ∂L/∂s is 1/4 (4 - 7) = -0.75 and 3/4 (8 - 7) = 0.75: more of the second value makes the output"
            " larger. Times the keys, 0 and log 3, that is 0.823959 for its query; times its query it is the slope"
            " of the keys; the values get the weights."
        ),
        shown=True,
    ),
    Case(
        "Four numbers a token",
        (
            [[0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]],
            [[0.0, 0.0, 0.0, 0.0], [np.log(3.0), 0.0, 0.0, 0.0]],
            [[4.0, 0.0, 0.0, 0.0], [8.0, 0.0, 0.0, 0.0]],
            [[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]],
        ),
        (
            np.array([[0.0, 0.0, 0.0, 0.0], [0.375 * np.log(3.0), 0.0, 0.0, 0.0]]),
            np.array([[-0.75, 0.0, 0.0, 0.0], [0.75, 0.0, 0.0, 0.0]]),
            np.array([[0.25, 0.0, 0.0, 0.0], [0.75, 0.0, 0.0, 0.0]]),
        ),
        why="q · k = 2 log 3 and √4 = 2, so ∂L/∂s is -0.75 and 0.75 again; half of it times k, and times q = 2",
    ),
    Case(
        "One token",
        ([[2.0, 1.0]], [[1.0, 3.0]], [[4.0, -1.0]], [[5.0, 7.0]]),
        (np.zeros((1, 2)), np.zeros((1, 2)), np.array([[5.0, 7.0]])),
        why="its weight is 1 whatever its score is",
    ),
    Case(
        "Two sequences do not mix",
        (
            np.ones((2, 2, 1)),
            np.array([[[0.0], [np.log(3.0)]], [[0.0], [0.0]]]),
            np.array([[[4.0], [8.0]], [[1.0], [3.0]]]),
            np.array([[[0.0], [1.0]], [[2.0], [2.0]]]),
        ),
        (
            np.array([[[0.0], [0.75 * np.log(3.0)]], [[0.0], [0.0]]]),
            np.array([[[-0.75], [0.75]], [[-1.0], [1.0]]]),
            np.array([[[0.25], [0.75]], [[3.0], [1.0]]]),
        ),
        why="in the second: weights 1/2, δ = 4, ∂L/∂s = 1/2 (2 - 4), 1/2 (6 - 4); values 2 + 2/2 and 2/2",
    ),
    Holds("It is the derivative", _is_the_derivative, why="checked by central differences"),
    Holds("Nothing reaches later tokens", _nothing_from_the_past, why="an output knows no later token"),
    Holds("Equal values pull at no score", _equal_values, why="the weights sum to 1, whatever the scores"),
    Unchanged((QUERIES, KEYS, VALUES, SLOPE)),
)
