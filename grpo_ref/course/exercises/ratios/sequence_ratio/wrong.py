"""Wrong answers to `ratios/sequence_ratio`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.sequence_ratio.tests import reference


def _wrong(formula, *, keep_padding=False):
    def answer(log_ratio, mask):
        x, m = np.asarray(log_ratio, dtype=float), np.asarray(mask, dtype=float)
        return formula(x if keep_padding else np.where(m > 0, x, 0.0), m)

    return answer


WRONG = (
    Mutant(
        "product",
        _wrong(lambda x, m: np.exp(x.sum(-1))),
        "This is the product of the ratios; GSPO takes its |o|-th root.",
    ),
    Mutant(
        "root of the product",
        _wrong(lambda x, m: np.where(m > 0, np.exp(x), 1.0).prod(-1) ** (1 / m.sum(-1))),
        "The product of the ratios over- or underflows before the root is taken: average the logarithms.",
    ),
    Mutant(
        "divided by all tokens",
        _wrong(lambda x, m: np.exp(x.sum(-1) / m.sum())),
        "Each sum is divided by the completion's own number of tokens, not by that of the batch.",
    ),
    Mutant(
        "axis kept",
        _wrong(lambda x, m: np.exp(x.sum(-1, keepdims=True) / m.sum(-1, keepdims=True))),
        "One number per completion is asked for: shape (N,), not (N, 1).",
    ),
    Mutant(
        "mean of the ratios",
        _wrong(lambda x, m: (np.exp(x) * m).sum(-1) / m.sum(-1)),
        "This averages ratios; the log-ratios are averaged, which gives the geometric mean.",
    ),
    Mutant(
        "padded length",
        _wrong(lambda x, m: np.exp(x.mean(-1))),
        "It divides by T, not by the number of tokens.",
    ),
    Mutant(
        "padding in the sum",
        _wrong(lambda x, m: np.exp(x.sum(-1) / m.sum(-1)), keep_padding=True),
        "The padding is in the sum.",
    ),
    Mutant(
        "padding multiplied",
        _wrong(lambda x, m: np.exp((x * m).sum(-1) / m.sum(-1)), keep_padding=True),
        "NaN times 0 is NaN: what the padding holds reaches the result. Choose with np.where.",
    ),
    Mutant("no mask", _wrong(lambda x, m: np.exp(x.mean(-1)), keep_padding=True), "The mask is not used."),
    Mutant(
        "no exponential",
        _wrong(lambda x, m: x.sum(-1) / m.sum(-1)),
        "This is the logarithm of the ratio.",
    ),
    Mutant("inverted", lambda x, m: 1 / reference(x, m), "The ratio is turned over: new over old."),
    Mutant(
        "over the batch",
        _wrong(lambda x, m: np.full(len(x), np.exp(x.sum() / m.sum()))),
        "Each completion has a ratio of its own.",
    ),
    Mutant(
        "one per token",
        _wrong(lambda x, m: np.exp(x.sum(-1, keepdims=True) / m.sum(-1, keepdims=True)) * m),
        "One ratio per completion is asked for, not one per token.",
    ),
)
