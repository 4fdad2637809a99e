"""Wrong answers to `aggregation/fixed_length`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant


def _of(formula):
    return lambda v, m, length: float(
        formula(np.where(np.asarray(m) > 0, v, 0.0), np.asarray(m, float), length)
    )


WRONG = (
    Mutant(
        "own length",
        _of(lambda v, m, n: (v.sum(-1) / np.maximum(m.sum(-1), 1)).mean()),
        "It divides by the completion's own length: that is GRPO's average.",
    ),
    Mutant(
        "all tokens",
        _of(lambda v, m, n: v.sum() / max(m.sum(), 1)),
        "It divides by the tokens of the batch: that is the token mean of verl and TRL.",
    ),
    Mutant(
        "padded length",
        _of(lambda v, m, n: v.sum() / max(v.size, 1)),
        "It divides by T, the longest completion at hand, not by the budget.",
    ),
    Mutant(
        "longest completion",
        _of(lambda v, m, n: v.sum() / len(v) / max(m.sum(-1).max(), 1)),
        "It divides by the longest completion, not by the budget.",
    ),
    Mutant("not by N", _of(lambda v, m, n: v.sum() / n), "It is not divided by the number of completions."),
    Mutant("not by L", _of(lambda v, m, n: v.sum() / len(v)), "It is not divided by the budget."),
    Mutant(
        "empty ones left out",
        _of(lambda v, m, n: v.sum() / max((m.sum(-1) > 0).sum(), 1) / n),
        "Empty completions are left out of N.",
    ),
    Mutant(
        "NaN times 0",
        lambda v, m, n: float((np.asarray(v, float) * np.asarray(m)).sum() / len(np.asarray(v)) / n),
        "NaN in the padding spreads.",
    ),
    Mutant(
        "any budget",
        _of(lambda v, m, n: v.sum() / len(v) / n if n else 0.0),
        "A budget without tokens has to be refused.",
    ),
)
