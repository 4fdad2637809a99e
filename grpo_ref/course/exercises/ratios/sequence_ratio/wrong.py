"""Wrong answers to `ratios/sequence_ratio`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.sequence_ratio.tests import reference


def answer(formula, *, with_padding=False):
    """Return an answer that computes the formula from x = log_ratio, with 0 on padding, and the mask."""

    def function(log_ratio, mask):
        x, m = np.asarray(log_ratio, dtype=float), np.asarray(mask, dtype=float)
        return formula(x if with_padding else np.where(m > 0, x, 0.0), m)

    return function


WRONG = (
    Mutant(
        "product",
        answer(lambda x, m: np.exp(x.sum(-1))),
        "Returns the product of the token ratios; divide the sum of the log-ratios by |o|.",
    ),
    Mutant(
        "root of the product",
        answer(lambda x, m: np.where(m > 0, np.exp(x), 1.0).prod(-1) ** (1 / m.sum(-1))),
        "Multiplies the ratios before it takes the root, and the product becomes 0 or infinite; average the"
        " log-ratios.",
    ),
    Mutant(
        "mean of the ratios",
        answer(lambda x, m: (np.exp(x) * m).sum(-1) / m.sum(-1)),
        "Averages the ratios; the log-ratios are averaged before the exponential.",
    ),
    Mutant(
        "padding counted",
        answer(lambda x, m: np.exp(x.mean(-1)), with_padding=True),
        "Ignores the mask: padding is in the sum and in |o|.",
    ),
    Mutant(
        "padding counted in |o|",
        answer(lambda x, m: np.exp(x.mean(-1))),
        "Divides by T, so padding counts as tokens.",
    ),
    Mutant(
        "padding counted in the sum",
        answer(lambda x, m: np.exp(x.sum(-1) / m.sum(-1)), with_padding=True),
        "Includes the padding in the sum.",
    ),
    Mutant(
        "log-ratio times mask",
        answer(lambda x, m: np.exp((x * m).sum(-1) / m.sum(-1)), with_padding=True),
        "Multiplies by the mask, so NaN or infinity in the padding gives NaN; use np.where.",
    ),
    Mutant(
        "mask inverted",
        answer(
            lambda x, m: np.exp(np.where(m > 0, 0.0, x).sum(-1) / np.maximum((1 - m).sum(-1), 1)),
            with_padding=True,
        ),
        "Averages the padding and skips the tokens; the mask is 1 on tokens.",
    ),
    Mutant(
        "no exponential",
        answer(lambda x, m: x.sum(-1) / m.sum(-1)),
        "Returns the mean log-ratio; the exponential is missing.",
    ),
    Mutant(
        "inverted",
        lambda log_ratio, mask: 1 / reference(log_ratio, mask),
        "Returns πold over πθ; log_ratio is log πθ - log πold.",
    ),
    Mutant(
        "one for the batch",
        answer(lambda x, m: np.full(len(x), np.exp(x.sum() / m.sum()))),
        "Averages over all completions, so they get the same ratio; each one has its own.",
    ),
    Mutant(
        "divided by the tokens of the batch",
        answer(lambda x, m: np.exp(x.sum(-1) / m.sum())),
        "Divides each sum by the number of tokens of the batch; |o| is that of the completion.",
    ),
    Mutant(
        "wrong axis",
        answer(lambda x, m: np.exp(x.sum(0) / m.sum(0))),
        "Averages over the first axis; the tokens of a completion are along the last axis.",
    ),
    Mutant(
        "axis kept",
        answer(lambda x, m: np.exp(x.sum(-1, keepdims=True) / m.sum(-1, keepdims=True))),
        "Returns an array of shape (N, 1); the shape is (N,).",
    ),
    Mutant(
        "one per token",
        answer(lambda x, m: np.exp(x.sum(-1, keepdims=True) / m.sum(-1, keepdims=True)) * m),
        "Returns a ratio for each token, 0 on padding; the result has one ratio per completion.",
    ),
)
