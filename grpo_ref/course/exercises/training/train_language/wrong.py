"""Wrong answers to `training/train_language`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

from grpo_ref.aggregation import token_sum
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.training.train_language.tests import LANGUAGE, counting, of

WRONG = (
    Mutant("downhill", of(replace(LANGUAGE, direction=-1.0)), "The sign is turned over."),
    Mutant(
        "never clipped",
        of(replace(LANGUAGE, slope=stages.never_clipped)),
        "The ratio is never clipped.",
    ),
    Mutant(
        "old moves along",
        of(replace(LANGUAGE, old=lambda then, now: now)),
        "Every ratio is 1: πold is taken anew in every step, though it belongs to the batch, or the slope is A"
        " instead of ρ A.",
    ),
    Mutant("one step only", of(LANGUAGE, epochs=1), "Each batch is to be used `steps` times."),
    Mutant(
        "centered only",
        of(replace(LANGUAGE, advantage=RIGHT.advantage)),
        "The advantages are not divided by the std.",
    ),
    Mutant(
        "visits lost",
        of(replace(LANGUAGE, back=stages.repeats_lost)),
        "`gradient[rows, tokens] += x` writes a repeated entry once.",
    ),
    Mutant(
        "probabilities left out",
        of(replace(LANGUAGE, back=stages.one_hot_only)),
        "The -π of the softmax's gradient is missing.",
    ),
    Mutant(
        "sum for mean",
        of(replace(LANGUAGE, weight=token_sum)),
        "The sum is not divided by G T.",
    ),
    Mutant(
        "counting without coming round",
        of(LANGUAGE, lambda t, v: (t[..., 1:] == t[..., :-1] + 1).mean(-1)),
        "After the last token comes 0 again: plus 1 modulo V.",
    ),
    Mutant("counting down", of(LANGUAGE, lambda t, v: counting(t[..., ::-1], v)), "It counts downwards."),
    Mutant(
        "all or nothing",
        of(LANGUAGE, lambda t, v: (counting(t, v) == 1.0) * 1.0),
        "The reward is the share of right steps, not whether all are right.",
    ),
)
