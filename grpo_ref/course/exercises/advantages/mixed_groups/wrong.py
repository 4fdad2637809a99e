"""Wrong answers to `advantages/mixed_groups`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.advantages.mixed_groups.tests import reference


def on_floats(formula):
    """Return an answer that applies a formula to the rewards as an array of floats."""
    return lambda rewards: formula(np.asarray(rewards, dtype=float))


WRONG = (
    Mutant(
        "some are right",
        on_floats(lambda r: (r > 0).any(-1)),
        "Returns True for every group with a positive reward, even if all its rewards are equal.",
    ),
    Mutant(
        "not all right",
        on_floats(lambda r: ~(r == 1).all(-1)),
        "Returns True unless all rewards are 1, so also for groups that are all wrong.",
    ),
    Mutant(
        "mean between 0 and 1",
        on_floats(lambda r: (r.mean(-1) > 0) & (r.mean(-1) < 1)),
        "Tests whether the mean lies between 0 and 1, which works only for rewards of 0 and 1.",
    ),
    Mutant(
        "std above 0",
        on_floats(lambda r: r.std(-1) > 0),
        "Tests whether the standard deviation is above 0; rounding can make it positive for equal rewards.",
    ),
    Mutant(
        "std above 1e-8",
        on_floats(lambda r: r.std(-1) > 1e-8),
        "Tests whether the standard deviation is above 1e-8, so smaller differences do not count.",
    ),
    Mutant(
        "allclose",
        on_floats(lambda r: ~np.isclose(r, r[:, :1]).all(-1)),
        "Treats nearly equal rewards as equal, as `np.allclose` and `np.isclose` do; compare exactly.",
    ),
    Mutant(
        "single precision",
        lambda r: reference(np.asarray(r, dtype=np.float32)),
        "Compares the rewards in single precision, which loses small differences.",
    ),
    Mutant(
        "reversed",
        lambda r: ~reference(r),
        "Returns True for the groups whose rewards are all equal; every answer is reversed.",
    ),
    Mutant(
        "over the prompts",
        on_floats(lambda r: r.max(0) != r.min(0)),
        "Compares the prompts with each other (axis 0); the completions of one prompt are in one row.",
    ),
    Mutant(
        "whole batch",
        on_floats(lambda r: r.max() != r.min()),
        "Compares all rewards of the batch and returns one value; every group needs its own.",
    ),
    Mutant(
        "numbers for truth values",
        lambda r: reference(r).astype(float),
        "Returns the numbers 1 and 0; truth values are required.",
    ),
    Mutant(
        "first and last",
        on_floats(lambda r: r[:, 0] != r[:, -1]),
        "Compares only the first and the last completion of each group.",
    ),
    Mutant(
        "all different from the first",
        on_floats(lambda r: (r[:, 1:] != r[:, :1]).all(-1) & (r.shape[-1] > 1)),
        "Returns True only if every other reward differs from the first one; one difference is enough.",
    ),
    Mutant(
        "groups of one",
        on_floats(lambda r: (r.max(-1) != r.min(-1)) | (r.shape[-1] == 1)),
        "Returns True for groups of one; they get False.",
    ),
)
