"""Wrong answers to `ratios/clipped`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.clipped.tests import reference


def answer(formula):
    """Return an answer that computes the formula from r, A and the two bounds."""

    def function(ratio, advantages, clip_low=0.2, clip_high=0.2):
        r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
        return formula(r, a, 1 - clip_low, 1 + clip_high)

    return function


def surrogate(r, a, low, high):
    return np.minimum(r * a, np.clip(r, low, high) * a)


WRONG = (
    Mutant(
        "never clipped",
        answer(lambda r, a, low, high: r * a),
        "Returns r A for every token; the clip is missing.",
    ),
    Mutant(
        "no minimum",
        answer(lambda r, a, low, high: np.clip(r, low, high) * a),
        "Returns clip(r) A for every token; the minimum with r A is missing.",
    ),
    Mutant(
        "max for min",
        answer(lambda r, a, low, high: np.maximum(r * a, np.clip(r, low, high) * a)),
        "Takes the larger of the two products; the surrogate is the smaller.",
    ),
    Mutant(
        "minimum of the ratios",
        answer(lambda r, a, low, high: np.minimum(r, high) * a),
        "Multiplies A by the smaller of r and 1 + clip_high; the minimum is that of the two products.",
    ),
    Mutant(
        "product clipped, then the minimum",
        answer(lambda r, a, low, high: np.minimum(r * a, np.clip(r * a, low, high))),
        "Clips the product r A; clip the ratio, then multiply by A.",
    ),
    Mutant(
        "product clipped",
        answer(lambda r, a, low, high: np.clip(r * a, low, high)),
        "Returns clip(r A); clip the ratio, then take the smaller of the two products.",
    ),
    Mutant(
        "good tokens only",
        answer(lambda r, a, low, high: np.where(a > 0, np.minimum(r, high), r) * a),
        "Never clips bad tokens; below 1 - clip_low their value is (1 - clip_low) A.",
    ),
    Mutant(
        "bad tokens only",
        answer(lambda r, a, low, high: np.where(a < 0, np.maximum(r, low), r) * a),
        "Never clips good tokens; above 1 + clip_high their value is (1 + clip_high) A.",
    ),
    Mutant(
        "clip_low for both",
        lambda r, a, clip_low=0.2, clip_high=0.2: reference(r, a, clip_low, clip_low),
        "Uses 1 + clip_low as the upper bound; it is 1 + clip_high.",
    ),
    Mutant(
        "clip_high for both",
        answer(lambda r, a, low, high: surrogate(r, a, 2 - high, high)),
        "Uses 1 - clip_high as the lower bound; it is 1 - clip_low.",
    ),
    Mutant(
        "clips swapped",
        answer(lambda r, a, low, high: surrogate(r, a, 2 - high, 2 - low)),
        "Swaps clip_low and clip_high; the bounds are 1 - clip_low and 1 + clip_high.",
    ),
    Mutant(
        "clips as bounds",
        answer(lambda r, a, low, high: surrogate(r, a, 1 - low, high - 1)),
        "Uses clip_low and clip_high themselves as the bounds; they are 1 - clip_low and 1 + clip_high.",
    ),
    Mutant(
        "lower bound as a quotient",
        answer(lambda r, a, low, high: surrogate(r, a, 1 / high, high)),
        "Uses 1 / (1 + clip_high) as the lower bound; it is 1 - clip_low.",
    ),
    Mutant(
        "bounds of the logarithm",
        answer(lambda r, a, low, high: surrogate(r, a, np.exp(low - 1), np.exp(high - 1))),
        "Clips log r to the range from -clip_low to clip_high; the bounds belong to r.",
    ),
    Mutant(
        "ratio taken for its logarithm",
        answer(lambda r, a, low, high: surrogate(np.exp(r), a, low, high)),
        "Uses exp(r) as the ratio; r is the ratio already.",
    ),
    Mutant(
        "default of DAPO",
        lambda r, a, clip_low=0.2, clip_high=0.28: reference(r, a, clip_low, clip_high),
        "Uses 0.28 for clip_high if it is omitted; its default is 0.2.",
    ),
    Mutant(
        "opposite sign",
        lambda *inputs, **named: -reference(*inputs, **named),
        "Returns minus the surrogate, which is the loss.",
    ),
    Mutant(
        "averaged",
        lambda *inputs, **named: reference(*inputs, **named).mean(),
        "Returns the mean over the tokens; the result has one value per token.",
    ),
)
