"""Wrong answers to `ratios/cispo`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.cispo.tests import reference


def answer(formula):
    """Return an answer that computes the formula from x = log_ratio, A and `max_ratio`."""
    return lambda log_ratio, advantages, max_ratio=5.0: formula(
        np.asarray(log_ratio, dtype=float), np.asarray(advantages, dtype=float), max_ratio
    )


WRONG = (
    Mutant(
        "not capped",
        answer(lambda x, a, c: np.exp(x) * a),
        "Returns r A; the cap of the weight is missing.",
    ),
    Mutant(
        "max for min",
        answer(lambda x, a, c: np.maximum(np.exp(x), c) * a),
        "Takes the larger of r and max_ratio as the weight; the weight is the smaller.",
    ),
    Mutant(
        "minimum of the products",
        answer(lambda x, a, c: np.minimum(np.exp(x) * a, c * a)),
        "Takes the smaller of r A and max_ratio A; for a bad token, the larger ratio gives the smaller product.",
    ),
    Mutant(
        "slope 0 above the cap",
        answer(lambda x, a, c: np.where(np.exp(x) > c, 0.0, np.exp(x) * a)),
        "Returns 0 above the cap; the weight there is max_ratio.",
    ),
    Mutant(
        "PPO's slope",
        answer(lambda x, a, c: np.where((a > 0) & (np.exp(x) > c), 0.0, np.exp(x) * a)),
        "Returns 0 for good tokens above the cap, and does not cap bad tokens.",
    ),
    Mutant(
        "good tokens only",
        answer(lambda x, a, c: np.where(a > 0, np.minimum(np.exp(x), c), np.exp(x)) * a),
        "Does not cap bad tokens; the cap applies to all tokens.",
    ),
    Mutant(
        "1 added to the cap",
        answer(lambda x, a, c: np.minimum(np.exp(x), 1 + c) * a),
        "Uses 1 + max_ratio as the cap; it is max_ratio itself.",
    ),
    Mutant(
        "log-ratio capped",
        answer(lambda x, a, c: np.exp(np.minimum(x, c)) * a),
        "Caps log_ratio at max_ratio; the cap is that of exp(log_ratio).",
    ),
    Mutant(
        "product capped",
        answer(lambda x, a, c: np.minimum(np.exp(x) * a, c)),
        "Caps the product r A at max_ratio; cap the ratio, then multiply by A.",
    ),
    Mutant(
        "capped below too",
        answer(lambda x, a, c: np.clip(np.exp(x), 1 / c, c) * a),
        "Adds a lower bound to the weight, such as 1 / max_ratio; the weight has no lower bound.",
    ),
    Mutant(
        "PPO's lower bound",
        answer(lambda x, a, c: np.minimum(np.maximum(np.exp(x), 0.8), c) * a),
        "Adds a lower bound of 0.8; the weight has no lower bound.",
    ),
    Mutant(
        "no weight",
        answer(lambda x, a, c: a + 0 * x),
        "Returns A; the weight min(r, max_ratio) is missing.",
    ),
    Mutant(
        "no advantage",
        answer(lambda x, a, c: np.minimum(np.exp(x), c)),
        "Returns the weight without the factor A.",
    ),
    Mutant(
        "log-ratio as the weight",
        answer(lambda x, a, c: np.minimum(x, c) * a),
        "Uses log_ratio as the ratio; r is exp(log_ratio).",
    ),
    Mutant(
        "inverted",
        answer(lambda x, a, c: np.minimum(np.exp(-x), c) * a),
        "Uses πold/πθ as the ratio; r is πθ/πold.",
    ),
    Mutant(
        "times the log-ratio",
        answer(lambda x, a, c: np.minimum(np.exp(x), c) * a * x),
        "Multiplies the weight and A by log_ratio; the derivative of log πθ with respect to itself is 1.",
    ),
    Mutant(
        "max_ratio fixed",
        lambda x, a, max_ratio=5.0: reference(x, a),
        "Uses 5 for every `max_ratio`.",
    ),
    Mutant(
        "opposite sign",
        lambda *inputs, **named: -reference(*inputs, **named),
        "Returns minus the slope, which is the slope of the loss.",
    ),
)
