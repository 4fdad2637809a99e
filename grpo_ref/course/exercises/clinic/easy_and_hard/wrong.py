"""Wrong answers to `clinic/easy_and_hard`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

from grpo_ref.advantages import raw_rewards
from grpo_ref.aggregation import token_sum
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT, normalized
from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.bandits import on_bandits


def _mean_over_prompts(rewards):
    return rewards - rewards.mean(0)


def _rest_of_batch(rewards):
    others = (rewards.sum() - rewards.sum(-1, keepdims=True)) / max(rewards.size - rewards.shape[-1], 1)
    return rewards - others


WRONG = (
    as_given(
        on_bandits(replace(RIGHT, advantage=stages.batch_baseline)),
        "The baseline is still the mean of the whole batch.",
    ),
    Mutant(
        "over the prompts",
        on_bandits(replace(RIGHT, advantage=_mean_over_prompts)),
        "The mean runs over the prompts now, not over the members of one.",
    ),
    Mutant(
        "the rest of the batch",
        on_bandits(replace(RIGHT, advantage=_rest_of_batch)),
        "The baseline is the mean of the other prompts now.",
    ),
    Mutant(
        "no baseline",
        on_bandits(replace(RIGHT, advantage=raw_rewards)),
        "There is no baseline at all now.",
    ),
    Mutant(
        "std as well",
        on_bandits(replace(RIGHT, advantage=normalized)),
        "The advantages are not to be divided by the std here.",
    ),
    Mutant(
        "downhill",
        on_bandits(replace(RIGHT, direction=-1.0)),
        "The sign was right; it is turned over now.",
    ),
    Mutant(
        "sum for mean",
        on_bandits(replace(RIGHT, weight=token_sum)),
        "The mean over prompts and members was right; it is a sum now.",
    ),
)
