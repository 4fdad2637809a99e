"""Wrong answers to `training/train_language`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.bandits import changed, mistakes_of_a_loop
from grpo_ref.course.exercises.training.train_language.tests import LANGUAGE, counting, of, reference


def _unless(is_clipped):
    """Return the slope ρ A, set to 0 where the condition on (ρ, A, clip) is true."""

    def slope(log_ratio, advantages, clip):
        ratio = np.exp(log_ratio)
        return np.where(is_clipped(ratio, advantages, clip), 0.0, ratio * advantages)

    return slope


def _without_ratio(log_ratio, advantages, clip):
    return np.where(RIGHT.slope(log_ratio, advantages, clip) == 0.0, 0.0, advantages)


WRONG = (
    *mistakes_of_a_loop(of, LANGUAGE, 8.0),
    Mutant(
        "never clipped",
        of(replace(LANGUAGE, slope=stages.never_clipped)),
        "Never clips: a token beyond its bound keeps the slope ρ A.",
    ),
    Mutant(
        "max for min",
        of(
            replace(
                LANGUAGE,
                slope=_unless(lambda r, a, clip: ((a > 0) & (r < 1.0 - clip)) | ((a < 0) & (r > 1.0 + clip))),
            )
        ),
        "Takes the larger of the two products; J has the smaller.",
    ),
    Mutant(
        "clipped on both sides",
        of(replace(LANGUAGE, slope=_unless(lambda r, a, clip: abs(r - 1.0) > clip))),
        "Clips on both sides for every advantage; a token with A > 0 has only the upper bound, with A < 0 only"
        " the lower.",
    ),
    Mutant(
        "clipped on the bound",
        of(replace(LANGUAGE, slope=_unless(lambda r, a, clip: np.sign(a) * (r - 1.0) >= clip))),
        "Clips a token whose ratio is on its bound; the slope there is ρ A.",
    ),
    Mutant(
        "slope without the ratio",
        of(replace(LANGUAGE, slope=_without_ratio)),
        "Uses A for the slope of a token that is not clipped; the slope is ρ A.",
    ),
    Mutant(
        "old is the current policy",
        of(replace(LANGUAGE, old=lambda then, now: now)),
        "Uses a ratio of 1 in every step: πold is the current policy, or the slope is A without a clip.",
    ),
    Mutant(
        "one step",
        changed(reference, lambda given: given | {"steps": 1}),
        "Takes one step on each batch; `steps` is ignored.",
    ),
    Mutant(
        "another default of steps",
        changed(reference, lambda given: {"steps": 1} | given),
        "Uses 1 for `steps` if it is omitted; the default is 2.",
    ),
    Mutant(
        "not divided by the standard deviation",
        of(replace(LANGUAGE, advantage=RIGHT.advantage)),
        "Only subtracts the mean; the advantage is also divided by the standard deviation.",
    ),
    Mutant(
        "repeated tokens lost",
        of(replace(LANGUAGE, back=stages.repeats_lost)),
        "Counts a token that was sampled several times in a row of the table only once; `np.add.at` adds every"
        " time.",
    ),
    Mutant(
        "probabilities missing",
        of(replace(LANGUAGE, back=stages.one_hot_only)),
        "Adds to the sampled logit only; the gradient has -π in every logit of the row.",
    ),
    Mutant(
        "without the modulo",
        of(LANGUAGE, lambda t, v: (t[..., 1:] == t[..., :-1] + 1).mean(-1)),
        "Does not count the transition from V - 1 to 0 as right; the next token is the previous one plus 1, modulo"
        " V.",
    ),
    Mutant(
        "divided by T",
        of(LANGUAGE, lambda t, v: counting(t, v) * (t.shape[-1] - 1) / t.shape[-1]),
        "Divides the number of right transitions by T; a completion has T - 1 transitions.",
    ),
    Mutant(
        "backwards",
        of(LANGUAGE, lambda t, v: counting(t[..., ::-1], v)),
        "Rewards counting down; the next token is the previous one plus 1.",
    ),
    Mutant(
        "all or nothing",
        of(LANGUAGE, lambda t, v: (counting(t, v) == 1.0) * 1.0),
        "Rewards only completions whose transitions are all right; the reward is the fraction of right ones.",
    ),
)
