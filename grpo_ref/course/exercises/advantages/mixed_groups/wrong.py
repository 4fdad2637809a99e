"""Wrong answers to `advantages/mixed_groups`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.advantages.mixed_groups.tests import reference

WRONG = (
    Mutant(
        "some are right",
        lambda r: (np.asarray(r) > 0).any(-1),
        "Groups that are all right are kept here; they teach nothing either.",
    ),
    Mutant(
        "not all right",
        lambda r: ~(np.asarray(r) == 1).all(-1),
        "Groups that are all wrong are kept here; they teach nothing either.",
    ),
    Mutant(
        "mean between 0 and 1",
        lambda r: (np.mean(r, -1) > 0) & (np.mean(r, -1) < 1),
        "This holds for rewards of 0 and 1 only: equal partial credit is no contrast.",
    ),
    Mutant(
        "std above 0",
        lambda r: np.std(np.asarray(r, float), -1) > 0,
        "The std of equal numbers can be off by a rounding.",
    ),
    Mutant("inverted", lambda r: ~reference(r), "This marks the groups to drop."),
    Mutant(
        "over the prompts",
        lambda r: np.resize(np.max(r, 0) != np.min(r, 0), len(np.asarray(r))),
        "The completions of a prompt are in one row.",
    ),
    Mutant(
        "one answer for all",
        lambda r: np.full(len(np.asarray(r)), np.max(r) != np.min(r)),
        "Each group is judged by itself.",
    ),
    Mutant(
        "numbers for truth values",
        lambda r: reference(r).astype(float),
        "Truth values are asked for: dtype bool.",
    ),
    Mutant(
        "neighbours compared",
        lambda r: (np.asarray(r)[..., :1] != np.asarray(r)[..., -1:]).any(-1),
        "Only the first and the last completion are compared.",
    ),
)
