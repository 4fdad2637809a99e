"""Wrong answers to `aggregation/soft_overlong`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.aggregation.soft_overlong.tests import reference


def _of(formula):
    return lambda lengths, max_length, buffer: formula(np.asarray(lengths, dtype=float), max_length, buffer)


WRONG = (
    Mutant(
        "does not saturate",
        _of(lambda n, L, B: np.minimum((L - B - n) / B, 0)),
        "Beyond the budget the punishment stays at -1.",
    ),
    Mutant(
        "rewards short answers",
        _of(lambda n, L, B: np.maximum((L - B - n) / B, -1)),
        "Below the threshold it is 0; short answers are not rewarded.",
    ),
    Mutant("positive", lambda n, L, B: -reference(n, L, B), "A punishment is negative."),
    Mutant(
        "buffer as threshold",
        _of(lambda n, L, B: np.clip((B - n) / max(L - B, 1), -1, 0)),
        "buffer is the width of the ramp, not where it begins.",
    ),
    Mutant("a cliff", _of(lambda n, L, B: np.where(n > L, -1.0, 0.0)), "There is no ramp."),
    Mutant(
        "an early cliff",
        _of(lambda n, L, B: np.where(n > L - B, -1.0, 0.0)),
        "There is no ramp between threshold and budget.",
    ),
    Mutant(
        "divided by the budget",
        _of(lambda n, L, B: np.clip((L - B - n) / L, -1, 0)),
        "It is divided by the width of the ramp.",
    ),
    Mutant(
        "ramp after the budget",
        _of(lambda n, L, B: np.clip((L - n) / B, -1, 0)),
        "The ramp ends at the budget; here it begins there.",
    ),
    Mutant("one less", _of(lambda n, L, B: np.clip((L - B - n - 1) / B, -1, 0)), "It is off by one token."),
)
