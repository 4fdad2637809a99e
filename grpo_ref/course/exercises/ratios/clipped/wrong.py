"""Wrong answers to `ratios/clipped`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.clipped.tests import reference


def _wrong(formula):
    def answer(ratio, advantages, clip_low=0.2, clip_high=0.2):
        return formula(
            np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float), 1 - clip_low, 1 + clip_high
        )

    return answer


WRONG = (
    Mutant("never clipped", _wrong(lambda r, a, lo, hi: r * a), "The ratio is never clipped."),
    Mutant("clip without min", _wrong(lambda r, a, lo, hi: np.clip(r, lo, hi) * a), "The min is missing."),
    Mutant(
        "max for min",
        _wrong(lambda r, a, lo, hi: np.maximum(r * a, np.clip(r, lo, hi) * a)),
        "The smaller one counts.",
    ),
    Mutant(
        "upper bound only",
        _wrong(lambda r, a, lo, hi: np.minimum(r, hi) * a),
        "There is no lower bound for bad tokens.",
    ),
    Mutant(
        "product clipped",
        _wrong(lambda r, a, lo, hi: np.minimum(r * a, np.clip(r * a, lo, hi))),
        "The ratio is clipped, not ratio times advantage.",
    ),
    Mutant(
        "clip by the sign, other way round",
        _wrong(lambda r, a, lo, hi: np.where(a > 0, np.maximum(r, lo), np.minimum(r, hi)) * a),
        "The bounds are on the wrong sides: good tokens are held above, bad ones below.",
    ),
    Mutant(
        "one half-width",
        lambda r, a, clip_low=0.2, clip_high=0.2: reference(r, a, clip_low, clip_low),
        "clip_high is not used.",
    ),
    Mutant(
        "half-widths swapped",
        _wrong(lambda r, a, lo, hi: np.minimum(r * a, np.clip(r, 1 - (hi - 1), 1 + (1 - lo)) * a)),
        "clip_low and clip_high are swapped.",
    ),
    Mutant(
        "negated",
        lambda *inputs, **named: -reference(*inputs, **named),
        "This is the loss; the surrogate is to be maximized.",
    ),
    Mutant(
        "averaged",
        lambda *inputs, **named: reference(*inputs, **named).mean(),
        "One value per token is asked for, not their mean.",
    ),
    Mutant(
        "log-space bounds",
        _wrong(lambda r, a, lo, hi: np.minimum(r * a, np.clip(r, 1 / hi, hi) * a)),
        "The lower bound is 1 - clip_low, not 1 / (1 + clip_high).",
    ),
    Mutant(
        "half-widths in log space",
        _wrong(lambda r, a, lo, hi: np.minimum(r * a, np.clip(r, np.exp(lo - 1), np.exp(hi - 1)) * a)),
        "The half-widths are those of the ratio, not of its logarithm.",
    ),
    Mutant(
        "good tokens only",
        _wrong(lambda r, a, lo, hi: np.where(a > 0, np.minimum(r, hi), r) * a),
        "Bad tokens are held too, below 1 - clip_low.",
    ),
)
