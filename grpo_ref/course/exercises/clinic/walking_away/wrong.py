"""Wrong answers to `clinic/walking_away`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.advantages import raw_rewards
from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.clinic.walking_away.tests import of, reference

WRONG = (
    as_given(
        of(replace(RIGHT, reference=lambda start, now: now)),
        "The reference still moves with the policy, so that the penalty is 0.",
    ),
    Mutant(
        "uniform reference",
        of(replace(RIGHT, reference=lambda start, now: np.full_like(start, -np.log(start.shape[-1])))),
        "The reference is the policy at the start, which need not be uniform.",
    ),
    Mutant(
        "penalty with the wrong sign",
        of(RIGHT, scale=-1.0),
        "The penalty pushes away from the reference now.",
    ),
    Mutant("penalty taken away", of(RIGHT, scale=0.0), "The penalty is gone now."),
    Mutant(
        "slope of k1",
        of(replace(RIGHT, penalty=lambda new, ref: np.ones_like(new))),
        "The slope of e⁻ᵛ - 1 + v is 1 - e⁻ᵛ, and was right.",
    ),
    Mutant(
        "slope of k2",
        of(replace(RIGHT, penalty=lambda new, ref: new - ref)),
        "The slope of e⁻ᵛ - 1 + v is 1 - e⁻ᵛ, and was right.",
    ),
    Mutant(
        "started from zero",
        lambda s, p, u, lr=2.0, k=0.1: reference(np.zeros_like(np.asarray(s, float)), p, u, lr, k),
        "The policy begins at `start`.",
    ),
    Mutant(
        "no baseline",
        of(replace(RIGHT, advantage=raw_rewards)),
        "The baseline was right; it is gone now.",
    ),
    Mutant("downhill", of(replace(RIGHT, direction=-1.0)), "The sign was right; it is turned over now."),
)
