"""Exercise: the slope of causal attention."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Real
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
    AXES,
    LARGE,
    ROWS,
    SIZES,
    queries_keys_values,
    scores_of,
    transposed,
    up_to_itself,
    weights_of,
)
from grpo_ref.learning.policies import layers

DOMAIN = Domain(
    queries_keys_values((-30.0, 30.0), (-100.0, 100.0))
    | {"slope": Real(AXES, (-100.0, 100.0), rows=ROWS, meaning="g = ∂L/∂o, a row for each token")},
    sizes=SIZES,
    large=LARGE,
)


def _reference(queries: Any, keys: Any, values: Any, slope: Any) -> Any:
    kept = layers.attention(*(np.asarray(each, float) for each in (queries, keys, values)))[1]
    return layers.attention_back(np.asarray(slope, float), kept)


def _through_softmax(weights: Any, upstream: Any) -> Any:
    return weights * (upstream - (weights * upstream).sum(-1, keepdims=True))


def _of(may: Any = up_to_itself, softmax: Any = _through_softmax, back: Any = None) -> Function:
    """Return an answer. Its `back` receives ∂L/∂s, A, g, q, k and 1/√D."""

    def answer(queries: Any, keys: Any, values: Any, slope: Any) -> Any:
        q, k, v, g = (np.asarray(each, float) for each in (queries, keys, values, slope))
        scores = scores_of(q, k)
        weights = weights_of(scores, may(scores))
        return (back or _back)(softmax(weights, g @ transposed(v)), weights, g, q, k, q.shape[-1] ** -0.5)

    return answer


def _back(ds: Any, weights: Any, g: Any, q: Any, k: Any, scale: Any) -> Any:
    return scale * ds @ k, scale * transposed(ds) @ q, transposed(weights) @ g


QUERIES = np.array([[0.5, -1.0], [2.0, 0.3], [-0.7, 0.4]])
KEYS = np.array([[1.0, 0.2], [-0.4, 0.9], [0.6, -1.5]])
VALUES = np.array([[3.0, -2.0], [0.5, 1.0], [4.0, 6.0]])
SLOPE = np.array([[1.0, 0.5], [-2.0, 0.7], [0.4, 3.0]])
H = 1e-6


def _is_the_derivative(f: Function) -> str | None:
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


def _nothing_from_the_past(f: Function) -> str | None:
    _, keys, values = f(QUERIES, KEYS, VALUES, np.array([[1.0, 0.5], [0.0, 0.0], [0.0, 0.0]]))
    silent = np.allclose(np.asarray(keys)[1:], 0.0) and np.allclose(np.asarray(values)[1:], 0.0)
    return None if silent else "a slope on the first output alone reached the keys or values of later tokens"


def _equal_values(f: Function) -> str | None:
    queries, keys, _ = f(QUERIES, KEYS, np.full((3, 2), 2.0), SLOPE)
    still = np.allclose(queries, 0.0) and np.allclose(keys, 0.0)
    return None if still else "where all values are equal, no query and no key changes anything"


PROBLEM = Problem(
    id="network/attention_slope",
    title="Which token is to blame",
    function="attention_slope",
    reference=_reference,
    background=(
        "A network is trained by the way back: the loss says how it changes with the last layer's output, and each"
        " layer carries this on to its input. Attention is the most interesting of them. What a token said (its value)"
        " is praised or blamed by all later tokens that listened to it. And who listened to whom is corrected too: the"
        " weight of a token that said better things than the average of what was heard has to grow. That comparison"
        " with an average should look familiar: it is an advantage, and it is there because a softmax sums to 1."
    ),
    task=(
        "Write `attention_slope(queries, keys, values, slope)`: for the causal attention of the exercise before,\n\n"
        "    s[i, j] = q[i] · k[j] / √D\n"
        "    A[i, j] = exp(s[i, j]) / Σ_{m <= i} exp(s[i, m])  for j <= i,    A[i, j] = 0  for j > i\n"
        "    o[i] = Σ_j A[i, j] v[j]\n\n"
        "and the slope g[i] = ∂L/∂o[i] of a loss L, return the slopes ∂L/∂q, ∂L/∂k and ∂L/∂v. On the way stands the"
        " slope with respect to the scores,\n\n"
        "    δ[i] = Σ_j A[i, j] (g[i] · v[j])\n"
        "    ∂L/∂s[i, j] = A[i, j] (g[i] · v[j] - δ[i])\n\n"
        "From there the chain rule leads on to q[i] and k[j], of which s[i, j] is a product. A key and a value are seen"
        " by several tokens, and what comes from each of these adds up. With a third axis before the others there are B"
        " sequences, each of which is by itself."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="A tuple of three arrays, ∂L/∂q, ∂L/∂k and ∂L/∂v, each of the shape of the inputs.",
    constraints="With one token, T = 1, ∂L/∂q and ∂L/∂k are 0, and ∂L/∂v is g.",
    notes=(
        "δ[i] is also g[i] · o[i], which is how fast implementations compute it: then the weights A need not be kept,"
        " but can be made again block by block. That is the idea of FlashAttention."
    ),
    kernel="grpo_ref.learning.policies.layers.attention_back",
    source="Dao et al. 2022, appendix B.2 (arXiv:2205.14135).",
    hints=(
        "Three products were made on the way: q with k, then A with v. What is the slope of each factor of a product?",
        "For o = A v: ∂L/∂v = Aᵀ g and ∂L/∂A = g vᵀ. For s = q kᵀ/√D: ∂L/∂q = (∂L/∂s) k/√D, ∂L/∂k = (∂L/∂s)ᵀ q/√D.",
        "ds = A * (dA - (A * dA).sum(-1, keepdims=True)) / √D; then ds @ k, t(ds) @ q and t(A) @ g, where t is"
        " np.swapaxes(x, -1, -2)",
    ),
    checks=(
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
        Holds(
            "Equal values pull at no score", _equal_values, why="the weights sum to 1, whatever the scores"
        ),
        Unchanged((QUERIES, KEYS, VALUES, SLOPE)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "without δ",
            _of(softmax=lambda weights, upstream: weights * upstream),
            "δ is missing: raising one score lowers all other weights of the row.",
        ),
        Mutant(
            "each weight by itself",
            _of(softmax=lambda weights, upstream: weights * (1.0 - weights) * upstream),
            "A (1 - A) is the slope of a weight with its own score; the other scores of the row change it too.",
        ),
        Mutant(
            "δ is a plain mean",
            _of(
                softmax=lambda a, up: (
                    a * (up - (up * (a > 0)).sum(-1, keepdims=True) / (a > 0).sum(-1, keepdims=True))
                )
            ),
            "δ is the mean of g · v weighted with A, not the plain one.",
        ),
        Mutant(
            "δ down the columns",
            _of(softmax=lambda a, up: a * (up - (a * up).sum(-2, keepdims=True))),
            "δ[i] sums over the tokens that token i looks at: along the last axis of the scores.",
        ),
        Mutant(
            "softmax left out",
            _of(softmax=lambda weights, upstream: upstream),
            "The way back through the softmax is missing.",
        ),
        Mutant(
            "not causal", _of(may=lambda s: np.ones_like(s, dtype=bool)), "Tokens see what comes after them."
        ),
        Mutant(
            "not scaled",
            _of(back=lambda ds, a, g, q, k, scale: _back(ds, a, g, q, k, 1.0)),
            "The slope of q · k/√D has the factor 1/√D too.",
        ),
        Mutant(
            "scaled twice",
            _of(back=lambda ds, a, g, q, k, scale: _back(ds, a, g, q, k, scale**2)),
            "The factor 1/√D is there once.",
        ),
        Mutant(
            "keys not scaled",
            _of(back=lambda ds, a, g, q, k, scale: (scale * ds @ k, transposed(ds) @ q, transposed(a) @ g)),
            "The slope of the keys has the factor 1/√D too.",
        ),
        Mutant(
            "queries and keys exchanged",
            _of(back=lambda *given: (lambda dq, dk, dv: (dk, dq, dv))(*_back(*given))),
            "The slopes of the queries and of the keys are exchanged.",
        ),
        Mutant(
            "scores not transposed",
            _of(back=lambda ds, a, g, q, k, scale: (scale * ds @ k, scale * ds @ q, transposed(a) @ g)),
            "∂L/∂k[j] sums over the tokens i that look at j: it is (∂L/∂s)ᵀ q.",
        ),
        Mutant(
            "weights not transposed",
            _of(back=lambda ds, a, g, q, k, scale: (scale * ds @ k, scale * transposed(ds) @ q, a @ g)),
            "∂L/∂v[j] sums over the tokens i that look at j: it is Aᵀ g.",
        ),
        Mutant(
            "values get the slope",
            _of(back=lambda ds, a, g, q, k, scale: (scale * ds @ k, scale * transposed(ds) @ q, g)),
            "A value gets a slope from every token that looks at it, each by its weight.",
        ),
        Mutant(
            "sign",
            _of(softmax=lambda a, up: -_through_softmax(a, up)),
            "The sign of ∂L/∂s is turned over.",
        ),
        Mutant(
            "values only in its own place",
            _of(
                back=lambda ds, a, g, q, k, scale: (
                    scale * ds @ k,
                    scale * transposed(ds) @ q,
                    np.diagonal(a, axis1=-2, axis2=-1)[..., None] * g,
                )
            ),
            "A value is heard by later tokens too, not by its own alone.",
        ),
    ),
    others={
        "by the Jacobian of each row": lambda q, k, v, g: _of(
            softmax=lambda a, up: np.einsum(
                "...ij,...ijm->...im",
                up,
                a[..., None] * np.eye(a.shape[-1]) - a[..., :, None] * a[..., None, :],
            )
        )(q, k, v, g),
    },
)
