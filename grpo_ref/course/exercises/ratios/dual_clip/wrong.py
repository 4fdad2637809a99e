"""Wrong answers to `ratios/dual_clip`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref import surrogates
from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.dual_clip.tests import reference


def _of(formula):
    def answer(ratio, advantages, clip=0.2, max_ratio=3.0):
        r, a = np.asarray(ratio, float), np.asarray(advantages, float)
        return formula(np.minimum(r * a, np.clip(r, 1 - clip, 1 + clip) * a), r, a, max_ratio)

    return answer


WRONG = (
    Mutant(
        "no floor",
        _of(lambda s, r, a, c: s),
        "There is no floor: this is the ordinary clipped surrogate.",
    ),
    Mutant(
        "floor for all",
        _of(lambda s, r, a, c: np.maximum(s, c * a)),
        "The floor is for bad tokens only; a good one is lifted to max_ratio A here.",
    ),
    Mutant(
        "floor for good tokens",
        _of(lambda s, r, a, c: np.where(a > 0, np.maximum(s, c * a), s)),
        "The floor belongs to bad tokens, A < 0.",
    ),
    Mutant(
        "min for max",
        _of(lambda s, r, a, c: np.where(a < 0, np.minimum(s, c * a), s)),
        "A floor is a maximum.",
    ),
    Mutant(
        "floor without A",
        _of(lambda s, r, a, c: np.where(a < 0, np.maximum(s, -c), s)),
        "The floor is max_ratio times A, not -max_ratio.",
    ),
    Mutant(
        "ratio capped for all",
        _of(lambda s, r, a, c: np.where(r > c, c * a, s)),
        "Capping the ratio of good tokens undoes their clip.",
    ),
    Mutant(
        "ratio capped first",
        lambda r, a, clip=0.2, max_ratio=3.0: (
            surrogates.two_sided_clipped(
                np.log(np.asarray(r, float)),
                np.asarray(a, float),
                clip_low=clip,
                clip_high=clip,
                max_ratio=max_ratio,
            ).value
        ),
        "This caps the ratio before the minimum is taken; the floor is put under the finished surrogate.",
    ),
    Mutant(
        "good tokens capped too",
        _of(lambda s, r, a, c: np.where(a < 0, np.maximum(s, c * a), np.minimum(s, c * a))),
        "max_ratio is for bad tokens only: a good one is held by the clip alone.",
    ),
    Mutant(
        "floor at the bound",
        lambda r, a, clip=0.2, max_ratio=3.0: reference(r, a, clip, max(max_ratio, 1 + clip)),
        "The floor is max_ratio A, even if max_ratio is less than 1 + clip.",
    ),
    Mutant(
        "cap as an offset",
        _of(lambda s, r, a, c: np.where(a < 0, np.maximum(s, (1 + c) * a), s)),
        "The cap is max_ratio itself, not 1 + max_ratio.",
    ),
    Mutant(
        "bad tokens not clipped",
        _of(lambda s, r, a, c: np.where(a < 0, np.minimum(r, c) * a, s)),
        "Bad tokens are clipped too, below 1 - clip.",
    ),
    Mutant(
        "clip forgotten",
        _of(lambda s, r, a, c: np.where(a < 0, np.maximum(r * a, c * a), r * a)),
        "The ordinary clip is missing.",
    ),
    Mutant(
        "max_ratio fixed",
        lambda r, a, clip=0.2, max_ratio=3.0: reference(r, a, clip),
        "The argument max_ratio is not used.",
    ),
    Mutant(
        "clip fixed",
        lambda r, a, clip=0.2, max_ratio=3.0: reference(r, a, 0.2, max_ratio),
        "The argument clip is not used.",
    ),
    Mutant(
        "negated",
        lambda *inputs, **named: -reference(*inputs, **named),
        "This is the loss; the surrogate is to be maximized.",
    ),
)
