"""Wrong answers to `ratios/token_ratio`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.token_ratio.tests import reference


def answer(formula):
    """Return an answer that applies the formula to the three inputs as arrays of floats."""
    return lambda log_probs, old_log_probs, mask: formula(
        *(np.asarray(each, dtype=float) for each in (log_probs, old_log_probs, mask))
    )


WRONG = (
    Mutant(
        "log-ratio",
        answer(lambda new, old, m: np.where(m > 0, new - old, 1.0)),
        "Returns log πθ - log πold, the logarithm of the ratio.",
    ),
    Mutant(
        "log-ratio, 0 on padding",
        answer(lambda new, old, m: np.where(m > 0, new - old, 0.0)),
        "Returns the logarithm of the ratio, with 0 on padding.",
    ),
    Mutant(
        "inverted",
        answer(lambda new, old, m: 1 / reference(new, old, m)),
        "Divides the old probability by the new one; the new one is the numerator.",
    ),
    Mutant(
        "exponentiated first",
        answer(lambda new, old, m: np.where(m > 0, np.exp(new) / np.exp(old), 1.0)),
        "Divides two probabilities that may both be rounded to 0; subtract the logarithms first.",
    ),
    Mutant(
        "quotient of the logarithms",
        answer(lambda new, old, m: np.where(m > 0, new / old, 1.0)),
        "Divides one logarithm by the other; logarithms are subtracted.",
    ),
    Mutant(
        "difference of the probabilities",
        answer(lambda new, old, m: np.where(m > 0, np.exp(new) - np.exp(old), 1.0)),
        "Subtracts the probabilities; the ratio is their quotient.",
    ),
    Mutant(
        "padding counted",
        answer(lambda new, old, m: np.exp(new - old)),
        "Ignores the mask and returns exp(log πθ - log πold) on padding too.",
    ),
    Mutant(
        "mask inverted",
        answer(lambda new, old, m: np.where(m > 0, 1.0, np.exp(new - old))),
        "Returns 1 for tokens and a ratio for padding; the mask is 1 on tokens.",
    ),
    Mutant(
        "log-ratio times mask",
        answer(lambda new, old, m: np.exp((new - old) * m)),
        "Multiplies by the mask before the exponential, so NaN or infinity in the padding gives NaN.",
    ),
    Mutant(
        "ratio times mask, 1 added on padding",
        answer(lambda new, old, m: np.exp(new - old) * m + (1 - m)),
        "Multiplies the ratio by the mask; on padding, 0 times an infinity or NaN is NaN.",
    ),
    Mutant(
        "ratio times mask",
        answer(lambda new, old, m: np.exp(new - old) * m),
        "Multiplies the ratio by the mask, so padding becomes 0 or NaN; its ratio is 1.",
    ),
    Mutant(
        "zero on padding",
        answer(lambda new, old, m: np.where(m > 0, reference(new, old, m), 0.0)),
        "Returns 0 on padding; the ratio there is 1.",
    ),
    Mutant(
        "padding removed",
        answer(lambda new, old, m: np.exp(new - old)[m > 0]),
        "Returns the ratios of the tokens only; the result has the shape of the mask, with 1 on padding.",
    ),
    Mutant(
        "one ratio per completion",
        answer(lambda new, old, m: reference(new, old, m).prod(-1)),
        "Returns the product of the ratios of each completion; the result has one ratio per token.",
    ),
    Mutant(
        "clipped",
        answer(lambda new, old, m: np.clip(reference(new, old, m), 0.8, 1.2)),
        "Clips the ratio to the range from 0.8 to 1.2.",
    ),
)
