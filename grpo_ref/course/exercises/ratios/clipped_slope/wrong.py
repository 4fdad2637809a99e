"""Wrong answers to `ratios/clipped_slope`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.clipped_slope.tests import reference


def answer(formula):
    """Return an answer that computes the formula from r, A and the two bounds."""

    def function(log_ratio, advantages, clip_low=0.2, clip_high=0.2):
        r = np.exp(np.asarray(log_ratio, dtype=float))
        return formula(r, np.asarray(advantages, dtype=float), 1 - clip_low, 1 + clip_high)

    return function


def slope(r, a, low, high):
    return np.where(((a > 0) & (r > high)) | ((a < 0) & (r < low)), 0.0, r * a)


WRONG = (
    Mutant(
        "never clipped",
        answer(lambda r, a, low, high: r * a),
        "Returns r A for every token; a clipped token has slope 0.",
    ),
    Mutant(
        "with respect to the ratio",
        answer(lambda r, a, low, high: slope(r, a, low, high) / r),
        "Returns A for tokens that are not clipped, the slope with respect to r; for the log-ratio it is r A.",
    ),
    Mutant(
        "clipped wherever outside",
        answer(lambda r, a, low, high: np.where((r > high) | (r < low), 0.0, r * a)),
        "Returns 0 for every token outside the bounds; one that moved against its advantage keeps r A.",
    ),
    Mutant(
        "good tokens only",
        answer(lambda r, a, low, high: np.where((a > 0) & (r > high), 0.0, r * a)),
        "Returns r A for every bad token; below 1 - clip_low its slope is 0.",
    ),
    Mutant(
        "bad tokens only",
        answer(lambda r, a, low, high: np.where((a < 0) & (r < low), 0.0, r * a)),
        "Returns r A for every good token; above 1 + clip_high its slope is 0.",
    ),
    Mutant(
        "upper bound for all",
        answer(lambda r, a, low, high: np.where(r > high, 0.0, r * a)),
        "Returns 0 for all tokens above 1 + clip_high and for no others; bad tokens are clipped below 1 - clip_low.",
    ),
    Mutant(
        "max for min",
        answer(lambda r, a, low, high: np.where(((a < 0) & (r > high)) | ((a > 0) & (r < low)), 0.0, r * a)),
        "Returns the slope of the larger of the two products; the surrogate is the smaller.",
    ),
    Mutant(
        "clipped product",
        answer(lambda r, a, low, high: np.clip(r, low, high) * a),
        "Returns clip(r) A for every token; the slope is 0 or r A.",
    ),
    Mutant(
        "value of the surrogate",
        answer(lambda r, a, low, high: np.minimum(r * a, np.clip(r, low, high) * a)),
        "Returns the surrogate itself; where it is clipped, its slope is 0.",
    ),
    Mutant(
        "0 within the bounds",
        answer(lambda r, a, low, high: np.where(r * a < np.clip(r, low, high) * a, r * a, 0.0)),
        "Returns 0 where the two products are equal; within the bounds the slope is r A.",
    ),
    Mutant(
        "bounds of the logarithm",
        answer(lambda r, a, low, high: slope(r, a, np.exp(low - 1), np.exp(high - 1))),
        "Clips where log_ratio is above clip_high or below -clip_low; the bounds belong to exp(log_ratio).",
    ),
    Mutant(
        "log-ratio taken for the ratio",
        lambda x, a, clip_low=0.2, clip_high=0.2: slope(
            np.asarray(x, dtype=float), np.asarray(a, dtype=float), 1 - clip_low, 1 + clip_high
        ),
        "Uses log_ratio as the ratio; r is exp(log_ratio).",
    ),
    Mutant(
        "lower bound as a quotient",
        answer(lambda r, a, low, high: slope(r, a, 1 / (2 - low), high)),
        "Uses 1 / (1 + clip_low) as the lower bound; it is 1 - clip_low.",
    ),
    Mutant(
        "0 on the bound",
        answer(
            lambda r, a, low, high: np.where(((a > 0) & (r >= high)) | ((a < 0) & (r <= low)), 0.0, r * a)
        ),
        "Returns 0 on the bound; the slope there is r A.",
    ),
    Mutant(
        "clips swapped",
        answer(lambda r, a, low, high: slope(r, a, 2 - high, 2 - low)),
        "Swaps clip_low and clip_high; the bounds are 1 - clip_low and 1 + clip_high.",
    ),
    Mutant(
        "bounds swapped",
        answer(lambda r, a, low, high: slope(r, a, high, low)),
        "Clips good tokens above 1 - clip_low and bad tokens below 1 + clip_high; the two bounds are swapped.",
    ),
    Mutant(
        "clip_low for both",
        lambda x, a, clip_low=0.2, clip_high=0.2: reference(x, a, clip_low, clip_low),
        "Uses 1 + clip_low as the upper bound; it is 1 + clip_high.",
    ),
    Mutant(
        "clip_high for both",
        answer(lambda r, a, low, high: slope(r, a, 2 - high, high)),
        "Uses 1 - clip_high as the lower bound; it is 1 - clip_low.",
    ),
    Mutant(
        "default of DAPO",
        lambda x, a, clip_low=0.2, clip_high=0.28: reference(x, a, clip_low, clip_high),
        "Uses 0.28 for clip_high if it is omitted; its default is 0.2.",
    ),
    Mutant(
        "opposite sign",
        lambda *inputs, **named: -reference(*inputs, **named),
        "Returns minus the slope, which is the slope of the loss.",
    ),
)
