"""Wrong answers to `aggregation/sequence_mean`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant


def _of(formula):
    return lambda values, mask: float(
        formula(np.where(np.asarray(mask) > 0, values, 0.0), np.asarray(mask, float))
    )


WRONG = (
    Mutant(
        "token mean",
        _of(lambda v, m: v.sum() / max(m.sum(), 1)),
        "This gives every token the same weight, so long answers count more. It is the token mean of verl and TRL.",
    ),
    Mutant(
        "empty ones left out",
        _of(lambda v, m: (v.sum(-1) / np.maximum(m.sum(-1), 1)).sum() / max((m.sum(-1) > 0).sum(), 1)),
        "Empty completions are left out of N. That is verl's way; here they count.",
    ),
    Mutant(
        "padded length",
        _of(lambda v, m: v.sum() / max(v.size, 1)),
        "It divides each row by T, not by its tokens.",
    ),
    Mutant(
        "not divided by the length",
        _of(lambda v, m: v.sum(-1).mean()),
        "The sum of a completion is not divided by its length.",
    ),
    Mutant(
        "not divided by N",
        _of(lambda v, m: (v.sum(-1) / np.maximum(m.sum(-1), 1)).sum()),
        "It is not divided by the number of completions.",
    ),
    Mutant(
        "0/0",
        _of(lambda v, m: (v.sum(-1) / m.sum(-1)).mean()),
        "A completion without tokens divides by zero.",
    ),
    Mutant(
        "NaN times 0",
        lambda v, m: float(
            ((np.asarray(v, float) * np.asarray(m)).sum(-1) / np.maximum(np.sum(m, -1), 1)).mean()
        ),
        "NaN in the padding spreads: NaN times 0 is NaN.",
    ),
    Mutant("no mask", lambda v, m: float(np.sum(v)) / max(np.size(v), 1), "The mask is not used."),
    Mutant(
        "over the other axis",
        _of(lambda v, m: (v.sum(0) / np.maximum(m.sum(0), 1)).sum() / max(v.shape[1], 1)),
        "The inner average runs over the tokens of a completion.",
    ),
)
