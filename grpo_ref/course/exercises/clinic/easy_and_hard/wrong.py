"""Wrong answers to `clinic/easy_and_hard`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.advantages import leave_one_out
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.bandits import mistakes_on_bandits, on_bandits, without


def _rest_of_batch(rewards):
    others = (rewards.sum() - rewards.sum(-1, keepdims=True)) / max(rewards.size - rewards.shape[-1], 1)
    return rewards - others


WRONG = (
    as_given(
        on_bandits(replace(RIGHT, advantage=stages.batch_baseline)),
        "Subtracts the mean reward of the whole batch, as the given program does; each prompt needs the mean of"
        " its own group.",
    ),
    Mutant(
        "mean over the prompts",
        on_bandits(replace(RIGHT, advantage=lambda rewards: rewards - rewards.mean(0))),
        "Takes the mean over the prompts (axis 0); the pulls of a prompt are along the last axis.",
    ),
    Mutant(
        "mean of the other prompts",
        on_bandits(replace(RIGHT, advantage=_rest_of_batch)),
        "Subtracts the mean reward of the other prompts; each prompt needs the mean of its own group.",
    ),
    Mutant(
        "median",
        on_bandits(replace(RIGHT, advantage=lambda r: r - np.median(r, -1, keepdims=True))),
        "Subtracts the median of the group; the baseline is the mean.",
    ),
    Mutant(
        "middle of the range",
        on_bandits(
            replace(RIGHT, advantage=lambda r: r - (r.max(-1, keepdims=True) + r.min(-1, keepdims=True)) / 2)
        ),
        "Subtracts the middle between the largest and the smallest reward; the baseline is the mean.",
    ),
    Mutant(
        "own reward omitted",
        on_bandits(replace(RIGHT, advantage=leave_one_out)),
        "Leaves the pull's own reward out of the mean; the mean is over all G pulls.",
    ),
    *without(mistakes_on_bandits(on_bandits), "baseline of the batch"),
)
