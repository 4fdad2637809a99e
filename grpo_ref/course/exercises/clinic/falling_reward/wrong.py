"""Wrong answers to `clinic/falling_reward`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.advantages import leave_one_out
from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.bandits import mistakes_on_bandits, on_bandits, without

WRONG = (
    as_given(
        on_bandits(replace(RIGHT, direction=-1.0)),
        "Moves the logits downhill, as the given program does: arms with a positive advantage become less likely.",
    ),
    Mutant(
        "absolute advantages",
        on_bandits(replace(RIGHT, advantage=lambda rewards: np.abs(RIGHT.advantage(rewards)))),
        "Makes every advantage positive; arms below the mean must become less likely.",
    ),
    Mutant(
        "positive advantages only",
        on_bandits(replace(RIGHT, advantage=lambda rewards: np.maximum(RIGHT.advantage(rewards), 0.0))),
        "Ignores pulls with a negative advantage; they must make their arm less likely.",
    ),
    Mutant(
        "own reward omitted",
        on_bandits(replace(RIGHT, advantage=leave_one_out)),
        "Leaves the pull's own reward out of the mean; the mean is over all G pulls.",
    ),
    *without(mistakes_on_bandits(on_bandits), "downhill"),
)
