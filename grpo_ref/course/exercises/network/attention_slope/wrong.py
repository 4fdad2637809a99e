"""Wrong answers to `network/attention_slope`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.heads import scores_of, transposed, up_to_itself, weights_of


def _through_softmax(weights, upstream):
    return weights * (upstream - (weights * upstream).sum(-1, keepdims=True))


def _of(may=up_to_itself, softmax=_through_softmax, back=None):
    """Return an answer. Its `back` receives ∂L/∂s, A, g, q, k and 1/√D."""

    def answer(queries, keys, values, slope):
        q, k, v, g = (np.asarray(each, float) for each in (queries, keys, values, slope))
        scores = scores_of(q, k)
        weights = weights_of(scores, may(scores))
        return (back or _back)(softmax(weights, g @ transposed(v)), weights, g, q, k, q.shape[-1] ** -0.5)

    return answer


def _back(ds, weights, g, q, k, scale):
    return scale * ds @ k, scale * transposed(ds) @ q, transposed(weights) @ g


WRONG = (
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
    Mutant("not causal", _of(may=lambda s: np.ones_like(s, dtype=bool)), "Tokens see what comes after them."),
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
)
