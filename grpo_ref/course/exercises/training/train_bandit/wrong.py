"""Wrong answers to `training/train_bandit`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.advantages import group_normalized
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.bandits import changed, first_update_repeated, mistakes_of_a_loop
from grpo_ref.course.exercises.training.train_bandit.tests import NORMALIZED, of, reference
from grpo_ref.learning.policies.table import policy_of


def _sample_standard_deviation(rewards):
    return group_normalized(rewards, ddof=1) if rewards.shape[-1] > 1 else 0.0 * rewards


def _small_number(rewards):
    centered = RIGHT.advantage(rewards)
    return centered / (rewards.std(-1, keepdims=True) + 1e-8)


WRONG = (
    *mistakes_of_a_loop(of, NORMALIZED, 2.0),
    Mutant(
        "not divided by the standard deviation",
        of(RIGHT),
        "Only subtracts the mean; the advantage is also divided by the standard deviation.",
    ),
    Mutant(
        "ddof 1",
        of(replace(NORMALIZED, advantage=_sample_standard_deviation)),
        "Divides by G - 1 in the standard deviation; it divides by G.",
    ),
    Mutant(
        "1e-8",
        of(replace(NORMALIZED, advantage=_small_number)),
        "Adds 1e-8 to the standard deviation; it is 1e-4.",
    ),
    Mutant(
        "greedy",
        of(replace(NORMALIZED, walk=stages.greedy)),
        "Selects the most likely arm in every pull; `uniforms` decides which arm is selected.",
    ),
    Mutant(
        "repeated arms lost",
        of(replace(NORMALIZED, back=stages.repeats_lost)),
        "Counts an arm that several pulls selected only once; every pull adds to the logits.",
    ),
    Mutant(
        "the same rewards in every update",
        changed(reference, first_update_repeated("payoffs")),
        "Reads the rewards of the first update in every update.",
    ),
    Mutant(
        "the rewards of the first pull",
        changed(
            reference,
            lambda given: (
                given
                | {
                    "payoffs": np.broadcast_to(
                        np.asarray(given["payoffs"])[:, :1], np.shape(given["payoffs"])
                    )
                }
            ),
        ),
        "Reads every reward from the row of pull 0; pull g has its own row, `payoffs[u, g]`.",
    ),
    Mutant(
        "probabilities returned",
        lambda *arguments, **keywords: policy_of(reference(*arguments, **keywords)).probs,
        "Returns the probabilities; the result is the logits.",
    ),
)
