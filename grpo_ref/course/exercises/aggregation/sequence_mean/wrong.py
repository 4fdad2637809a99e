"""Wrong answers to `aggregation/sequence_mean`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant


def answer(formula):
    """Return an answer. The formula gets the values with zeros in the padding, and the mask as floats."""
    return lambda values, mask: formula(
        np.where(np.asarray(mask) > 0, np.asarray(values, float), 0.0), np.asarray(mask, float)
    )


WRONG = (
    Mutant(
        "token mean",
        answer(lambda v, m: v.sum() / max(m.sum(), 1)),
        "Divides by the number of tokens of the batch, so a long completion counts more than a short one.",
    ),
    Mutant(
        "empty completions omitted",
        answer(lambda v, m: (v.sum(-1) / np.maximum(m.sum(-1), 1)).sum() / max((m.sum(-1) > 0).sum(), 1)),
        "Omits completions without tokens from N; each of them counts in N and adds 0.",
    ),
    Mutant(
        "padding counted",
        answer(lambda v, m: v.sum() / max(v.size, 1)),
        "Divides each row by T, so padding counts as tokens with the value 0.",
    ),
    Mutant(
        "longest length",
        answer(lambda v, m: v.sum() / len(v) / max(m.sum(-1).max(), 1)),
        "Divides every row by the length of the longest completion instead of its own length.",
    ),
    Mutant(
        "not divided by the length",
        answer(lambda v, m: v.sum(-1).mean()),
        "Does not divide the sum of a completion by its length.",
    ),
    Mutant(
        "not divided by N",
        answer(lambda v, m: (v.sum(-1) / np.maximum(m.sum(-1), 1)).sum()),
        "Adds the means of the completions, but does not divide by N.",
    ),
    Mutant(
        "one mean per completion",
        answer(lambda v, m: v.sum(-1) / np.maximum(m.sum(-1), 1)),
        "Returns the mean of each completion; the mean of these means is missing.",
    ),
    Mutant(
        "0/0",
        answer(lambda v, m: (v.sum(-1) / m.sum(-1)).mean()),
        "Returns NaN if a completion has no token; such a completion adds 0.",
    ),
    Mutant(
        "NaN times 0",
        lambda values, mask: (
            (np.asarray(values, float) * np.asarray(mask)).sum(-1) / np.maximum(np.sum(mask, -1), 1)
        ).mean(),
        "Returns NaN if the padding holds NaN or infinity: multiplied by 0, both are NaN.",
    ),
    Mutant(
        "no mask",
        lambda values, mask: np.sum(values) / max(np.size(values), 1),
        "Ignores the mask: the numbers in the padding are averaged, too.",
    ),
    Mutant(
        "positions first",
        answer(lambda v, m: (v.sum(0) / np.maximum(m.sum(0), 1)).sum() / max(v.shape[1], 1)),
        "Averages each position over the completions first, and then over the positions; the inner mean runs"
        " over the tokens of a completion.",
    ),
    Mutant(
        "zeros not counted",
        answer(lambda v, m: (v.sum(-1) / np.maximum(np.count_nonzero(v, axis=-1), 1)).mean()),
        "Omits tokens with the value 0 from the length of a completion.",
    ),
    Mutant(
        "tokens taken to come first",
        lambda values, mask: np.mean(
            [
                np.mean(row[:length]) if length else 0.0
                for row, length in zip(
                    np.asarray(values, float), np.sum(mask, -1, dtype=int).tolist(), strict=True
                )
            ]
        ),
        "Averages the first |oᵢ| places of each row; padding may also come before a token.",
    ),
    Mutant(
        "lengths of truth values",
        lambda values, mask: np.mean(
            np.where(mask, np.asarray(values, float), 0.0).sum(-1)
            / np.maximum(np.einsum("nt->n", np.asarray(mask)), 1)
        ),
        "Divides by 1 if the mask holds truth values; `np.einsum` and `+` combine truth values by `or`.",
    ),
    Mutant(
        "squeezed",
        lambda values, mask: np.mean(
            np.where(np.squeeze(mask) > 0, np.squeeze(np.asarray(values, float)), 0.0).sum(-1)
            / np.maximum(np.sum(np.squeeze(mask), -1), 1)
        ),
        "Treats N completions of one position as one completion of N positions; `np.squeeze` does this.",
    ),
)
