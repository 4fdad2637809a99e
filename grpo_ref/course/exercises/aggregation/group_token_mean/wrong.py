"""Wrong answers to `aggregation/group_token_mean`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant


def answer(formula):
    """Return an answer. The formula gets the values with zeros in the padding, and the mask as floats."""
    return lambda values, mask: formula(
        np.where(np.asarray(mask) > 0, np.asarray(values, float), 0.0), np.asarray(mask, float)
    )


WRONG = (
    Mutant(
        "mean over the batch",
        answer(lambda v, m: v.sum() / max(m.sum(), 1)),
        "Divides by the number of tokens of the whole batch, so a group with more tokens counts more.",
    ),
    Mutant(
        "mean of means",
        answer(lambda v, m: (v.sum(-1) / np.maximum(m.sum(-1), 1)).mean()),
        "Averages each completion first, so a token of a short completion counts more; all tokens of a group"
        " have the same weight.",
    ),
    Mutant(
        "positions first",
        answer(lambda v, m: (v.sum(1) / np.maximum(m.sum(1), 1)).sum() / len(v) / max(v.shape[2], 1)),
        "Averages each position over the completions first, and then over the positions; all tokens of a group"
        " have the same weight.",
    ),
    Mutant(
        "empty groups omitted",
        answer(
            lambda v, m: (v.sum((1, 2)) / np.maximum(m.sum((1, 2)), 1)).sum() / max(m.any((1, 2)).sum(), 1)
        ),
        "Omits groups without tokens from P; each of them counts in P and adds 0.",
    ),
    Mutant(
        "not divided by P",
        answer(lambda v, m: (v.sum((1, 2)) / np.maximum(m.sum((1, 2)), 1)).sum()),
        "Adds the means of the groups, but does not divide by P.",
    ),
    Mutant(
        "one mean per group",
        answer(lambda v, m: v.sum((1, 2)) / np.maximum(m.sum((1, 2)), 1)),
        "Returns the mean of each group; the mean of these means is missing.",
    ),
    Mutant(
        "not divided by the tokens",
        answer(lambda v, m: v.sum((1, 2)).mean()),
        "Does not divide the sum of a group by its number of tokens.",
    ),
    Mutant(
        "groups along axis 1",
        answer(lambda v, m: (v.sum((0, 2)) / np.maximum(m.sum((0, 2)), 1)).mean()),
        "Averages over axes 0 and 2; the tokens of a group run over axes 1 and 2.",
    ),
    Mutant(
        "padding counted",
        answer(lambda v, m: v.sum() / max(v.size, 1)),
        "Divides each group by G T, so padding counts as tokens with the value 0.",
    ),
    Mutant(
        "no mask",
        lambda values, mask: np.sum(values) / max(np.size(values), 1),
        "Ignores the mask: the numbers in the padding are averaged, too.",
    ),
    Mutant(
        "zeros not counted",
        answer(lambda v, m: (v.sum((1, 2)) / np.maximum(np.count_nonzero(v, axis=(1, 2)), 1)).mean()),
        "Omits tokens with the value 0 from the number of tokens of a group.",
    ),
    Mutant(
        "NaN times 0",
        lambda values, mask: (
            (np.asarray(values, float) * np.asarray(mask)).sum((1, 2)) / np.maximum(np.sum(mask, (1, 2)), 1)
        ).mean(),
        "Returns NaN if the padding holds NaN or infinity: multiplied by 0, both are NaN.",
    ),
    Mutant(
        "0/0",
        answer(lambda v, m: (v.sum((1, 2)) / m.sum((1, 2))).mean()),
        "Returns NaN if a group has no token; such a group adds 0.",
    ),
)
