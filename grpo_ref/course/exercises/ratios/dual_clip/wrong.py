"""Wrong answers to `ratios/dual_clip`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.dual_clip.tests import reference


def answer(formula):
    """Return an answer that computes the formula from PPO's surrogate s, r, A, `clip` and `max_ratio`."""

    def function(ratio, advantages, clip=0.2, max_ratio=3.0):
        r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
        s = np.minimum(r * a, np.clip(r, 1 - clip, 1 + clip) * a)
        return formula(s, r, a, clip, max_ratio)

    return function


def limited(s, a, limit):
    return np.where(a < 0, np.maximum(s, limit), s)


WRONG = (
    Mutant(
        "no limit",
        answer(lambda s, r, a, e, c: s),
        "Returns PPO's surrogate; the limit of bad tokens is missing.",
    ),
    Mutant(
        "limit for all",
        answer(lambda s, r, a, e, c: np.maximum(s, c * a)),
        "Takes the maximum for good tokens too, which raises their value to max_ratio A.",
    ),
    Mutant(
        "limit for good tokens",
        answer(lambda s, r, a, e, c: np.where(a > 0, np.maximum(s, c * a), s)),
        "Takes the maximum where A > 0; the limit is for A < 0.",
    ),
    Mutant(
        "min for max",
        answer(lambda s, r, a, e, c: np.where(a < 0, np.minimum(s, c * a), s)),
        "Takes the smaller of s and max_ratio A for bad tokens; the value is the larger.",
    ),
    Mutant(
        "max for min",
        answer(
            lambda s, r, a, e, c: limited(np.maximum(r * a, np.clip(r, 1 - e, 1 + e) * a), a, c * a),
        ),
        "Takes the larger of the two products for s; PPO's surrogate is the smaller.",
    ),
    Mutant(
        "no minimum",
        answer(lambda s, r, a, e, c: limited(np.clip(r, 1 - e, 1 + e) * a, a, c * a)),
        "Uses clip(r) A for s; the minimum with r A is missing.",
    ),
    Mutant(
        "limit without A",
        answer(lambda s, r, a, e, c: limited(s, a, -c)),
        "Uses -max_ratio as the limit; it is max_ratio times A.",
    ),
    Mutant(
        "ratio capped for all",
        answer(lambda s, r, a, e, c: np.where(r > c, c * a, s)),
        "Returns max_ratio A for every token above max_ratio; good tokens have the value s.",
    ),
    Mutant(
        "ratio capped before the minimum",
        answer(
            lambda s, r, a, e, c: np.minimum(np.minimum(r, c) * a, np.clip(r, 1 - e, 1 + e) * a),
        ),
        "Caps r at max_ratio in the first product, before the minimum; the limit is applied to s.",
    ),
    Mutant(
        "good tokens capped too",
        answer(lambda s, r, a, e, c: np.where(a < 0, np.maximum(s, c * a), np.minimum(s, c * a))),
        "Limits good tokens to max_ratio A too; their value is s.",
    ),
    Mutant(
        "limit raised to the bound",
        answer(lambda s, r, a, e, c: limited(s, a, np.maximum(c, 1 + e) * a)),
        "Uses 1 + clip for max_ratio where max_ratio is less; the limit is always max_ratio A.",
    ),
    Mutant(
        "1 added to max_ratio",
        answer(lambda s, r, a, e, c: limited(s, a, (1 + c) * a)),
        "Uses (1 + max_ratio) A as the limit; it is max_ratio A.",
    ),
    Mutant(
        "bad tokens not clipped",
        answer(lambda s, r, a, e, c: np.where(a < 0, np.minimum(r, c) * a, s)),
        "Leaves bad tokens below 1 - clip unclipped; their value is (1 - clip) A.",
    ),
    Mutant(
        "no clip",
        answer(lambda s, r, a, e, c: limited(r * a, a, c * a)),
        "Uses r A for s; PPO's clip is missing.",
    ),
    Mutant(
        "0 beyond the limit",
        answer(lambda s, r, a, e, c: np.where((a < 0) & (r > c), 0.0, s)),
        "Returns 0 for bad tokens above max_ratio; their value is max_ratio A.",
    ),
    Mutant(
        "max_ratio fixed",
        lambda r, a, clip=0.2, max_ratio=3.0: reference(r, a, clip),
        "Uses 3 for every `max_ratio`.",
    ),
    Mutant(
        "clip fixed",
        lambda r, a, clip=0.2, max_ratio=3.0: reference(r, a, 0.2, max_ratio),
        "Uses 0.2 for every `clip`.",
    ),
    Mutant(
        "opposite sign",
        lambda *inputs, **named: -reference(*inputs, **named),
        "Returns minus the surrogate, which is the loss.",
    ),
)
