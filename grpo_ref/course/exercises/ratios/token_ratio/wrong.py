"""Wrong answers to `ratios/token_ratio`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.token_ratio.tests import reference


def _of(formula):
    return lambda log_probs, old_log_probs, mask: formula(
        *(np.asarray(x, dtype=float) for x in (log_probs, old_log_probs, mask))
    )


WRONG = (
    Mutant(
        "logarithm",
        _of(lambda a, b, m: np.where(m > 0, a - b, 1.0)),
        "This is the logarithm of the ratio.",
    ),
    Mutant(
        "inverted",
        _of(lambda a, b, m: 1 / reference(a, b, m)),
        "The ratio is turned over: new over old.",
    ),
    Mutant(
        "exponentiated first",
        _of(lambda a, b, m: np.where(m > 0, np.exp(a) / np.exp(b), 1.0)),
        "Both exponentials are 0 for very unlikely tokens; subtract first.",
    ),
    Mutant(
        "quotient of logs",
        _of(lambda a, b, m: np.where(m > 0, a / b, 1.0)),
        "Logarithms are subtracted, not divided.",
    ),
    Mutant(
        "difference",
        _of(lambda a, b, m: np.where(m > 0, np.exp(a) - np.exp(b), 1.0)),
        "This is the difference of the probabilities.",
    ),
    Mutant(
        "padding kept",
        _of(lambda a, b, m: np.exp(a - b)),
        "The mask is not used: the ratio of padding is 1.",
    ),
    Mutant(
        "padding multiplied",
        _of(lambda a, b, m: np.exp((a - b) * m)),
        "NaN times 0 is NaN: what the padding holds reaches the result. Choose with np.where.",
    ),
    Mutant(
        "zero on padding",
        _of(lambda a, b, m: np.where(m > 0, reference(a, b, m), 0.0)),
        "The ratio of padding is 1, not 0.",
    ),
    Mutant("clipped", _of(lambda a, b, m: np.clip(reference(a, b, m), 0.8, 1.2)), "Nothing is clipped here."),
)
