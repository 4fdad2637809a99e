"""Wrong answers to `clinic/talking_on`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

from grpo_ref.advantages import raw_rewards
from grpo_ref.aggregation import token_sum
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.kernels import padded_mean
from grpo_ref.check.mistakes.toy_loop import countdown
from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.clinic.talking_on.tests import SPEAKER, of


def _walk_without(mask_of):
    def walk(probs, uniforms):
        states, tokens, mask = countdown(probs, uniforms)
        return states, tokens, mask_of(tokens, mask)

    return walk


WRONG = (
    as_given(
        of(replace(SPEAKER, weight=stages.everywhere)),
        "The padding is still trained: every position has the same weight.",
    ),
    Mutant(
        "padding in the denominator",
        of(replace(SPEAKER, weight=padded_mean)),
        "The padding is out of the sum, but still in the number of tokens.",
    ),
    Mutant(
        "the end left out",
        of(
            replace(SPEAKER, walk=_walk_without(lambda t, m: m * (t != 0))),
            lambda t, m: (m.sum(-1) == 2).astype(float),
        ),
        "The end itself is left out now; ending is a choice that has to be learned.",
    ),
    Mutant(
        "mean of means",
        of(replace(SPEAKER, weight=lambda m: m / m.sum(-1, keepdims=True) / m.shape[-2])),
        "Every token counts the same; this divides by each completion's own length.",
    ),
    Mutant(
        "sum for mean",
        of(replace(SPEAKER, weight=token_sum)),
        "The division by the number of tokens was right; it is gone now.",
    ),
    Mutant(
        "no baseline",
        of(replace(SPEAKER, advantage=raw_rewards)),
        "The baseline was right; it is gone now.",
    ),
    Mutant("downhill", of(replace(SPEAKER, direction=-1.0)), "The sign was right; it is turned over now."),
    Mutant(
        "visits lost",
        of(replace(SPEAKER, back=stages.repeats_lost)),
        "np.add.at was right: a repeated entry is written once now.",
    ),
    Mutant(
        "two words, ended or not",
        of(SPEAKER, lambda t, m: (m.sum(-1) >= 3).astype(float)),
        "Only a completion that ends as its third token is right.",
    ),
)
