"""Wrong answers to `aggregation/token_mean`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant


def _of(formula):
    return lambda values, mask: float(formula(np.asarray(values, float), np.asarray(mask, float)))


WRONG = (
    Mutant(
        "mean of means",
        _of(lambda v, m: np.mean((v * m).sum(-1) / np.maximum(m.sum(-1), 1))),
        "This averages completions, not tokens: short ones count more. It is GRPO's average.",
    ),
    Mutant(
        "padding counted",
        _of(lambda v, m: (v * m).sum() / max(v.size, 1)),
        "It divides by all positions, the padding included.",
    ),
    Mutant("no mask", _of(lambda v, m: v.sum() / max(v.size, 1)), "The mask is not used."),
    Mutant("sum", _of(lambda v, m: np.where(m > 0, v, 0).sum()), "It is not divided."),
    Mutant(
        "divided by completions",
        _of(lambda v, m: np.where(m > 0, v, 0).sum() / len(v)),
        "It divides by completions; every token counts one.",
    ),
    Mutant(
        "NaN times 0",
        _of(lambda v, m: (v * m).sum() / max(m.sum(), 1)),
        "NaN in the padding spreads: NaN times 0 is NaN.",
    ),
    Mutant(
        "0/0",
        _of(lambda v, m: np.where(m > 0, v, 0).sum() / m.sum()),
        "A batch without tokens divides by zero.",
    ),
    Mutant(
        "nanmean",
        _of(lambda v, m: np.nanmean(np.where(m > 0, v, np.nan)) if m.sum() else np.nan),
        "A batch without tokens should give 0.",
    ),
    Mutant(
        "fixed length",
        _of(lambda v, m: np.where(m > 0, v, 0).sum() / v.size),
        "It divides by N T, a constant. That is Dr. GRPO's average.",
    ),
)
