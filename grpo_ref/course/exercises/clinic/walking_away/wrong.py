"""Wrong answers to `clinic/walking_away`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace
from functools import partial

import numpy as np

from grpo_ref.check.mistakes.toy_loop import RIGHT
from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.bandits import changed, mistakes_on_bandits
from grpo_ref.course.exercises.clinic.walking_away.tests import of, reference
from grpo_ref.learning.policies.table import log_softmax


def _fixed(reference, first, now):
    """Return a reference that does not depend on the run."""
    return reference


def _one_update_behind(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1):
    """Train with the policy before the previous update as the reference."""
    before = logits = np.asarray(start, dtype=float)
    for update in range(len(payoffs)):
        fixed = log_softmax(before)
        step = of(replace(RIGHT, reference=partial(_fixed, fixed)))
        now = slice(update, update + 1)
        before, logits = logits, step(logits, payoffs[now], uniforms[now], learning_rate, kl_coef)
    return logits


WRONG = (
    as_given(
        of(replace(RIGHT, reference=lambda start, now: now)),
        "Gives the penalty no effect: the reference is the current policy, or the penalty is missing.",
    ),
    Mutant(
        "one update behind",
        _one_update_behind,
        "Uses a reference that is one update behind the policy; it is the policy at the start.",
    ),
    Mutant(
        "uniform reference",
        of(replace(RIGHT, reference=lambda start, now: np.full_like(start, -np.log(start.shape[-1])))),
        "Uses the uniform policy as the reference; it is the softmax of `start`.",
    ),
    Mutant(
        "penalty with the wrong sign",
        of(RIGHT, scale=-1.0),
        "Adds the penalty to J, which pushes the policy away from the reference; J subtracts it.",
    ),
    Mutant(
        "slope of k1",
        of(replace(RIGHT, penalty=lambda new, ref: np.ones_like(new))),
        "Uses the slope of v, which is 1; the slope of e⁻ᵛ - 1 + v is 1 - πref / π.",
    ),
    Mutant(
        "slope of k2",
        of(replace(RIGHT, penalty=lambda new, ref: new - ref)),
        "Uses v as the slope of the penalty; the slope of e⁻ᵛ - 1 + v is 1 - πref / π.",
    ),
    Mutant(
        "value for slope",
        of(replace(RIGHT, penalty=lambda new, ref: np.exp(ref - new) - 1.0 + new - ref)),
        "Uses the value of the penalty; the gradient needs its slope, 1 - πref / π.",
    ),
    Mutant(
        "ratio upside down",
        of(replace(RIGHT, penalty=lambda new, ref: 1.0 - np.exp(new - ref))),
        "Uses 1 - π / πref; the slope of the penalty is 1 - πref / π.",
    ),
    Mutant(
        "started from zero",
        changed(reference, lambda given: given | {"start": np.zeros(np.shape(given["start"]))}),
        "Begins with logits of 0, and uses their policy as the reference; both come from `start`.",
    ),
    Mutant(
        "another kl_coef",
        changed(reference, lambda given: {"kl_coef": 0.04} | given),
        "Uses 0.04 for `kl_coef` if it is omitted; the default is 0.1.",
    ),
    *mistakes_on_bandits(of),
)
