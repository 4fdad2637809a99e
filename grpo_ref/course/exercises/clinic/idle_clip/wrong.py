"""Wrong answers to `clinic/idle_clip`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.advantages import raw_rewards
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.clinic.idle_clip.tests import of


def _unless(is_clipped):
    """Return the slope r A, set to 0 where the condition on (r, A, clip) is true."""

    def slope(log_ratio, advantages, clip):
        ratio = np.exp(log_ratio)
        return np.where(is_clipped(ratio, advantages, clip), 0.0, ratio * advantages)

    return slope


WRONG = (
    as_given(
        of(replace(RIGHT, old=lambda then, now: now)),
        "The ratio is still 1 in every step: `old` comes from the policy of that very step, or is not used.",
    ),
    Mutant(
        "clip taken away",
        of(replace(RIGHT, slope=stages.never_clipped)),
        "The clip was right; it is gone now.",
    ),
    Mutant(
        "clipped on both sides",
        of(replace(RIGHT, slope=_unless(lambda r, a, clip: abs(r - 1.0) > clip))),
        "A ratio outside the band still has a slope if the advantage calls it back.",
    ),
    Mutant(
        "clipped above only",
        of(replace(RIGHT, slope=_unless(lambda r, a, clip: (a > 0) & (r > 1.0 + clip)))),
        "The lower bound was right; it is gone now.",
    ),
    Mutant(
        "clipped below only",
        of(replace(RIGHT, slope=_unless(lambda r, a, clip: (a < 0) & (r < 1.0 - clip)))),
        "The upper bound was right; it is gone now.",
    ),
    Mutant(
        "clipped on the bound",
        of(replace(RIGHT, slope=_unless(lambda r, a, clip: np.sign(a) * (r - 1.0) >= clip))),
        "On the bound itself the slope is r A.",
    ),
    Mutant("one step", of(RIGHT, epochs=1), "Each batch is to be used `steps` times."),
    Mutant("clip fixed", of(RIGHT, clip=0.2), "The argument clip is not used."),
    Mutant("downhill", of(replace(RIGHT, direction=-1.0)), "The sign was right; it is turned over now."),
    Mutant(
        "no baseline",
        of(replace(RIGHT, advantage=raw_rewards)),
        "The baseline was right; it is gone now.",
    ),
)
