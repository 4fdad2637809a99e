"""Wrong answers to `aggregation/token_mean`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant


def answer(formula):
    """Return an answer. The formula gets the values with zeros in the padding, and the mask as floats."""
    return lambda values, mask: formula(
        np.where(np.asarray(mask) > 0, np.asarray(values, float), 0.0), np.asarray(mask, float)
    )


WRONG = (
    Mutant(
        "mean of means",
        answer(lambda v, m: (v.sum(-1) / np.maximum(m.sum(-1), 1)).mean()),
        "Averages each completion first, so a token of a short completion counts more; all tokens have the"
        " same weight.",
    ),
    Mutant(
        "padding counted",
        answer(lambda v, m: v.sum() / max(v.size, 1)),
        "Divides by N T, so padding counts as tokens with the value 0.",
    ),
    Mutant(
        "no mask",
        lambda values, mask: np.sum(values) / max(np.size(values), 1),
        "Ignores the mask: the numbers in the padding are averaged, too.",
    ),
    Mutant(
        "inverted mask",
        lambda values, mask: np.sum(values, where=np.equal(mask, 0)) / max(np.sum(np.equal(mask, 0)), 1),
        "Averages the padding instead of the tokens; `np.ma` omits the places where its mask is 1.",
    ),
    Mutant(
        "sum",
        answer(lambda v, m: v.sum()),
        "Adds the values of the tokens, but does not divide by the number of tokens.",
    ),
    Mutant(
        "divided by the completions",
        answer(lambda v, m: v.sum() / len(v)),
        "Divides by N, the number of completions, instead of the number of tokens.",
    ),
    Mutant(
        "one mean per completion",
        answer(lambda v, m: v.sum(-1) / np.maximum(m.sum(-1), 1)),
        "Returns one mean for each completion; the result is a single number.",
    ),
    Mutant(
        "positions first",
        answer(lambda v, m: (v.sum(0) / np.maximum(m.sum(0), 1)).sum() / max(v.shape[1], 1)),
        "Averages each position over the completions first, and then over the positions; all tokens have the"
        " same weight.",
    ),
    Mutant(
        "zeros not counted",
        answer(lambda v, m: v.sum() / max(np.count_nonzero(v), 1)),
        "Omits tokens with the value 0 from the number of tokens.",
    ),
    Mutant(
        "NaN times 0",
        lambda values, mask: np.sum(np.asarray(values, float) * mask) / max(np.sum(mask), 1),
        "Returns NaN if the padding holds NaN or infinity: multiplied by 0, both are NaN.",
    ),
    Mutant(
        "0/0",
        answer(lambda v, m: v.sum() / m.sum()),
        "Returns NaN if the batch has no token; the result is then 0.",
    ),
    Mutant(
        "small number added",
        answer(lambda v, m: v.sum() / (m.sum() + 1e-8)),
        "Adds 1e-8 to the number of tokens, which changes the mean.",
    ),
)
