"""The tests of `network/attention_slope`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Holds, Real, Unchanged
from grpo_ref.course.exercises.heads import AXES, LARGE, ROWS, SIZES, queries_keys_values
from grpo_ref.learning.policies import layers

DOMAIN = Domain(
    queries_keys_values((-30.0, 30.0), (-100.0, 100.0))
    | {"slope": Real(AXES, (-100.0, 100.0), rows=ROWS, meaning="g = ∂L/∂o, the gradient of the output")},
    sizes=SIZES,
    large=LARGE,
)


def reference(queries, keys, values, slope):
    cache = layers.attention(*(np.asarray(each, float) for each in (queries, keys, values)))[1]
    return layers.attention_back(np.asarray(slope, float), cache)


QUERIES = np.array([[0.5, -1.0], [2.0, 0.3], [-0.7, 0.4]])

KEYS = np.array([[1.0, 0.2], [-0.4, 0.9], [0.6, -1.5]])

VALUES = np.array([[3.0, -2.0], [0.5, 1.0], [4.0, 6.0]])

SLOPE = np.array([[1.0, 0.5], [-2.0, 0.7], [0.4, 3.0]])

H = 1e-6


def _is_the_derivative(f):
    inputs = (QUERIES, KEYS, VALUES)
    returned = f(*inputs, SLOPE)
    for name, position in (("q", 0), ("k", 1), ("v", 2)):
        numerical = np.zeros((3, 2))
        for place in np.ndindex(3, 2):
            losses = []
            for step in (H, -H):
                shifted = [each.copy() for each in inputs]
                shifted[position][place] += step
                losses.append(float((layers.attention(*shifted)[0] * SLOPE).sum()))
            numerical[place] = (losses[0] - losses[1]) / (2.0 * H)
        if not np.allclose(returned[position], numerical, rtol=1e-6, atol=1e-7):
            return f"∂L/∂{name} differs from a central difference of L = Σ g · o"
    return None


def _nothing_reaches_later_tokens(f):
    _, keys, values = f(QUERIES, KEYS, VALUES, np.array([[1.0, 0.5], [0.0, 0.0], [0.0, 0.0]]))
    zero = np.allclose(np.asarray(keys)[1:], 0.0) and np.allclose(np.asarray(values)[1:], 0.0)
    return (
        None if zero else "only the first output has a gradient, but a later key or value got a gradient too"
    )


def _equal_values(f):
    queries, keys, _ = f(QUERIES, KEYS, np.full((3, 2), 2.0), SLOPE)
    zero = np.allclose(queries, 0.0) and np.allclose(keys, 0.0)
    return None if zero else "all values are equal, so the gradients of queries and keys must be 0"


LOG3 = np.log(3.0)

CHECKS = (
    Case(
        "One number per token",
        ([[1.0], [1.0]], [[0.0], [LOG3]], [[4.0], [8.0]], [[0.0], [1.0]]),
        (np.array([[0.0], [0.75 * LOG3]]), np.array([[-0.75], [0.75]]), np.array([[0.25], [0.75]])),
        why=(
            "The weights of the second token are 1/4 and 3/4, and δ = 7. So ∂L/∂s is 1/4 · (4 - 7) = -0.75 and"
            " 3/4 · (8 - 7) = 0.75. Its query gets 0.75 log 3, the keys get ∂L/∂s, the values get the weights."
        ),
        shown=True,
    ),
    Case(
        "Four numbers per token",
        (
            [[0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]],
            [[0.0, 0.0, 0.0, 0.0], [LOG3, 0.0, 0.0, 0.0]],
            [[4.0, 0.0, 0.0, 1.0], [8.0, 0.0, 0.0, 1.0]],
            [[2.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]],
        ),
        (
            np.array([[0.0, 0.0, 0.0, 0.0], [0.375 * LOG3, 0.0, 0.0, 0.0]]),
            np.array([[-0.75, 0.0, 0.0, 0.0], [0.75, 0.0, 0.0, 0.0]]),
            np.array([[2.25, 0.0, 0.0, 0.25], [0.75, 0.0, 0.0, 0.75]]),
        ),
        why=(
            "q · k = 2 log 3 and √4 = 2, so ∂L/∂s is -0.75 and 0.75 again. Queries and keys have the factor 1/2."
            " The first value gets a gradient from both tokens."
        ),
        shown=True,
    ),
    Case(
        "One token",
        ([[2.0, 1.0]], [[1.0, 3.0]], [[4.0, -1.0]], [[5.0, 7.0]]),
        (np.zeros((1, 2)), np.zeros((1, 2)), np.array([[5.0, 7.0]])),
        why="The weight is 1 for every score, so only the value has a gradient.",
    ),
    Case(
        "A later token with a far larger score",
        ([[30.0], [0.0]], [[0.0], [30.0]], [[3.0], [5.0]], [[1.0], [2.0]]),
        (np.array([[0.0], [30.0]]), np.zeros((2, 1)), np.array([[2.0], [1.0]])),
        why=(
            "The first token does not see the score of 900. The second has the weights 1/2 and 1/2, and δ = 8: ∂L/∂s is"
            " 1/2 · (6 - 8) = -1 and 1/2 · (10 - 8) = 1, so its query gets -1 · 0 + 1 · 30."
        ),
    ),
    Case(
        "Two sequences do not mix",
        (
            np.ones((2, 2, 1)),
            np.array([[[0.0], [LOG3]], [[0.0], [0.0]]]),
            np.array([[[4.0], [8.0]], [[1.0], [3.0]]]),
            np.array([[[0.0], [1.0]], [[2.0], [2.0]]]),
        ),
        (
            np.array([[[0.0], [0.75 * LOG3]], [[0.0], [0.0]]]),
            np.array([[[-0.75], [0.75]], [[-1.0], [1.0]]]),
            np.array([[[0.25], [0.75]], [[3.0], [1.0]]]),
        ),
        why=(
            "Second sequence: the weights are 1/2, δ = 4, and ∂L/∂s is 1/2 · (2 - 4) and 1/2 · (6 - 4). The values"
            " get 2 + 2/2 and 2/2."
        ),
    ),
    Holds("The gradients are derivatives", _is_the_derivative, why="Compared with central differences."),
    Holds(
        "Nothing reaches later tokens",
        _nothing_reaches_later_tokens,
        why="An output does not depend on later tokens.",
    ),
    Holds("Equal values", _equal_values, why="The mean of equal values does not depend on the scores."),
    Unchanged((QUERIES, KEYS, VALUES, SLOPE)),
)
