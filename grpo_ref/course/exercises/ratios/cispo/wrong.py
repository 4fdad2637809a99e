"""Wrong answers to `ratios/cispo`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant


def _of(formula):
    return lambda log_ratio, advantages, max_ratio=5.0: formula(
        np.exp(np.asarray(log_ratio, dtype=float)), np.asarray(advantages, dtype=float), max_ratio
    )


WRONG = (
    Mutant(
        "PPO's slope",
        _of(lambda r, a, c: np.where((a > 0) & (r > c), 0.0, r * a)),
        "This drops the gradient of capped tokens, as PPO does; CISPO keeps it.",
    ),
    Mutant("not capped", _of(lambda r, a, c: r * a), "The weight is not capped."),
    Mutant(
        "cap as an offset",
        _of(lambda r, a, c: np.minimum(r, 1 + c) * a),
        "The cap is max_ratio itself, not 1 + max_ratio.",
    ),
    Mutant(
        "capped tokens dropped",
        _of(lambda r, a, c: np.where(r > c, 0.0, r * a)),
        "A capped token keeps its gradient: its weight is the cap, not 0.",
    ),
    Mutant(
        "cap of the logarithm",
        _of(lambda r, a, c: np.exp(np.minimum(np.log(r), c)) * a),
        "max_ratio caps the ratio, not its logarithm.",
    ),
    Mutant(
        "one-sided like PPO's loss",
        _of(lambda r, a, c: np.where(a > 0, np.minimum(r, c), r) * a),
        "The cap holds for bad tokens too.",
    ),
    Mutant(
        "product capped",
        _of(lambda r, a, c: np.minimum(r * a, c)),
        "The ratio is capped, not ratio times advantage.",
    ),
    Mutant("capped below too", _of(lambda r, a, c: np.clip(r, 1 / c, c) * a), "There is no lower bound."),
    Mutant(
        "weight forgotten", _of(lambda r, a, c: a + 0 * r), "This is plain REINFORCE, without the weight."
    ),
    Mutant("advantage forgotten", _of(lambda r, a, c: np.minimum(r, c)), "The advantage is missing."),
    Mutant(
        "logarithm as the weight",
        _of(lambda r, a, c: np.minimum(np.log(r), c) * a),
        "The weight is the ratio, not its logarithm.",
    ),
    Mutant(
        "inverted",
        _of(lambda r, a, c: np.minimum(1 / r, c) * a),
        "The ratio is turned over: new over old.",
    ),
)
