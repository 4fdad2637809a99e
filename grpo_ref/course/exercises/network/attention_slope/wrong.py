"""Wrong answers to `network/attention_slope`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.heads import attention_scores, causal_mask, masked_softmax, transposed


def _softmax_gradient(weights, upstream):
    return weights * (upstream - (weights * upstream).sum(-1, keepdims=True))


def _gradients(ds, a, g, q, k, scale):
    return scale * ds @ k, scale * transposed(ds) @ q, transposed(a) @ g


def _answer(scores=attention_scores, mask=causal_mask, softmax=_softmax_gradient, gradients=_gradients):
    """Return an answer. Its `softmax` receives A and ∂L/∂A, its `gradients` ∂L/∂s, A, g, q, k and 1/√D."""

    def answer(queries, keys, values, slope):
        q, k, v, g = (np.asarray(each, float) for each in (queries, keys, values, slope))
        s = scores(q, k)
        a = masked_softmax(s, mask(s))
        return gradients(softmax(a, g @ transposed(v)), a, g, q, k, q.shape[-1] ** -0.5)

    return answer


def _minus_plain_mean(a, upstream):
    seen = a > 0
    return a * (upstream - (upstream * seen).sum(-1, keepdims=True) / seen.sum(-1, keepdims=True))


WRONG = (
    Mutant(
        "without δ",
        _answer(softmax=lambda a, upstream: a * upstream),
        "Omits δ; a higher score also lowers the other weights of its row.",
    ),
    Mutant(
        "each weight by itself",
        _answer(softmax=lambda a, upstream: a * (1.0 - a) * upstream),
        "Multiplies by A (1 - A); each weight also depends on the other scores of its row.",
    ),
    Mutant(
        "δ is a plain mean",
        _answer(softmax=_minus_plain_mean),
        "Takes the plain mean of g · v as δ; the mean is weighted with A.",
    ),
    Mutant(
        "δ down the columns",
        _answer(softmax=lambda a, upstream: a * (upstream - (a * upstream).sum(-2, keepdims=True))),
        "Sums over i instead of j for δ; the sum runs along the last axis.",
    ),
    Mutant(
        "δ not multiplied by A",
        _answer(softmax=lambda a, upstream: a * upstream - (a * upstream).sum(-1, keepdims=True)),
        "Subtracts δ without the factor A[i, j].",
    ),
    Mutant(
        "no softmax",
        _answer(softmax=lambda a, upstream: upstream),
        "Takes g · v as the gradient of the scores; the derivative of the softmax is missing.",
    ),
    Mutant(
        "not causal",
        _answer(mask=lambda s: np.ones_like(s, dtype=bool)),
        "Lets each token attend to all tokens; the weights of later tokens must be 0.",
    ),
    Mutant(
        "weights not scaled",
        _answer(scores=lambda q, k: q @ transposed(k)),
        "Computes the weights from q · k without dividing by √D.",
    ),
    Mutant(
        "gradients not scaled",
        _answer(gradients=lambda ds, a, g, q, k, scale: _gradients(ds, a, g, q, k, 1.0)),
        "Omits the factor 1/√D in ∂L/∂q and ∂L/∂k.",
    ),
    Mutant(
        "scaled twice",
        _answer(gradients=lambda ds, a, g, q, k, scale: _gradients(ds, a, g, q, k, scale**2)),
        "Divides ∂L/∂q and ∂L/∂k by D; the factor is 1/√D, once.",
    ),
    Mutant(
        "keys not scaled",
        _answer(
            gradients=lambda ds, a, g, q, k, scale: (scale * ds @ k, transposed(ds) @ q, transposed(a) @ g)
        ),
        "Omits the factor 1/√D in ∂L/∂k.",
    ),
    Mutant(
        "queries not scaled",
        _answer(
            gradients=lambda ds, a, g, q, k, scale: (ds @ k, scale * transposed(ds) @ q, transposed(a) @ g)
        ),
        "Omits the factor 1/√D in ∂L/∂q.",
    ),
    Mutant(
        "queries and keys exchanged",
        _answer(gradients=lambda *parts: (lambda dq, dk, dv: (dk, dq, dv))(*_gradients(*parts))),
        "Returns ∂L/∂k first and ∂L/∂q second; the queries come first.",
    ),
    Mutant(
        "scores not transposed",
        _answer(gradients=lambda ds, a, g, q, k, scale: (scale * ds @ k, scale * ds @ q, transposed(a) @ g)),
        "Multiplies q by ∂L/∂s without the transpose; ∂L/∂k[j] is a sum over i.",
    ),
    Mutant(
        "weights not transposed",
        _answer(gradients=lambda ds, a, g, q, k, scale: (scale * ds @ k, scale * transposed(ds) @ q, a @ g)),
        "Multiplies g by A without the transpose; ∂L/∂v[j] is a sum over i.",
    ),
    Mutant(
        "values get g",
        _answer(gradients=lambda ds, a, g, q, k, scale: (scale * ds @ k, scale * transposed(ds) @ q, g)),
        "Returns g as ∂L/∂v; a value gets g[i] times A[i, j] from each token i.",
    ),
    Mutant(
        "values from the scores",
        _answer(
            gradients=lambda ds, a, g, q, k, scale: (
                scale * ds @ k,
                scale * transposed(ds) @ q,
                transposed(ds) @ g,
            )
        ),
        "Uses ∂L/∂s in the place of A for ∂L/∂v.",
    ),
    Mutant(
        "values of the token itself",
        _answer(
            gradients=lambda ds, a, g, q, k, scale: (
                scale * ds @ k,
                scale * transposed(ds) @ q,
                np.diagonal(a, axis1=-2, axis2=-1)[..., None] * g,
            )
        ),
        "Gives a value the gradient of its own token only; later tokens use it too.",
    ),
    Mutant(
        "sign",
        _answer(softmax=lambda a, upstream: -_softmax_gradient(a, upstream)),
        "Changes the sign of ∂L/∂s; it is A (g · v - δ).",
    ),
)
