"""Wrong answers to `clinic/falling_reward`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

from grpo_ref.advantages import raw_rewards
from grpo_ref.aggregation import token_sum
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.bandits import on_bandits
from grpo_ref.course.exercises.clinic.falling_reward.tests import reference

WRONG = (
    as_given(
        on_bandits(replace(RIGHT, direction=-1.0)),
        "It still goes downhill: the step is taken against the gradient of J.",
    ),
    Mutant(
        "baseline dropped",
        on_bandits(replace(RIGHT, advantage=raw_rewards)),
        "The baseline was right; it is gone now.",
    ),
    Mutant(
        "baseline of the batch",
        on_bandits(replace(RIGHT, advantage=stages.batch_baseline)),
        "The baseline was that of each group, and right.",
    ),
    Mutant(
        "advantages turned over twice",
        on_bandits(replace(RIGHT, direction=-1.0, advantage=raw_rewards)),
        "Now the baseline is gone, and it still goes downhill.",
    ),
    Mutant(
        "sum for mean",
        on_bandits(replace(RIGHT, weight=token_sum)),
        "The mean over prompts and members was right; it is a sum now.",
    ),
    Mutant(
        "learning rate fixed",
        lambda p, u, learning_rate=2.0: reference(p, u, 2.0),
        "The learning rate is not used.",
    ),
)
