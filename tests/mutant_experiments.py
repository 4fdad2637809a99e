"""Wrong implementations, one for a claim, in the order of `CLAIMS`: each must flip the verdict on it.

A mutant takes the experiment, of which only what decides is left, and breaks the mechanism that the claim is
about; so a claim with a mutant is one whose experiment can fail.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from grpo_ref import (
    Recipe,
    all_completions,
    clipped,
    group_normalized,
    importance_weighted,
    no_penalty,
    slot,
)
from grpo_ref.experiments.framework.experiment import Experiment, arm
from grpo_ref.types import Term


class Mutant(NamedTuple):
    """A wrong implementation.

    Attributes:
      seeds: how many are enough to see the verdict flip.
      change: breaks the experiment.
    """

    seeds: int
    change: Callable[[Experiment], Experiment]


def recipes(change: Callable[[Recipe], Recipe]) -> Callable[[Experiment], Experiment]:
    """Every recipe of the experiment is changed in the same way."""
    return lambda experiment: experiment.mutated(change)


def _negated(rewards):
    return -group_normalized(rewards)


def _without_clip(recipe):
    return (
        replace(recipe, surrogate=slot(importance_weighted)) if recipe.surrogate.kernel is clipped else recipe
    )


def _upper_bound_is_a_ratio(recipe):
    """A wider bound is read as the largest ratio, as in TRL's CISPO, and stops every token."""
    settings = recipe.surrogate.settings
    if settings["clip_high"] <= settings["clip_low"]:
        return recipe
    return replace(recipe, surrogate=slot(_constant, **settings))


def _constant(log_ratio, advantages, *, clip_low, clip_high):
    return Term(value=np.clip(np.exp(log_ratio), 1.0 - clip_low, clip_high) * advantages)


def _bounds_in_percent(recipe):
    if recipe.surrogate.kernel is not clipped:
        return recipe
    bounds = {name: bound / 100.0 for name, bound in recipe.surrogate.settings.items()}
    return replace(recipe, surrogate=slot(clipped, **bounds))


def _stopped_after_one_step(experiment):
    """The early stop drops all that comes after the first step on a batch."""
    arms = {
        label: arm(one.run, **one.settings, use="once") if one.settings["recipe"].corrections else one
        for label, one in experiment.arms.items()
    }
    return replace(experiment, arms=arms)


MUTANTS = {
    "group_size": Mutant(32, recipes(lambda r: replace(r, advantage=slot(_negated)))),
    "clip_higher": Mutant(16, recipes(_upper_bound_is_a_ratio)),
    "rare_tokens": Mutant(16, recipes(_without_clip)),
    "rare_gradient": Mutant(32, recipes(_bounds_in_percent)),
    "early_stop": Mutant(32, _stopped_after_one_step),
    "overlong": Mutant(16, recipes(lambda r: replace(r, admit=slot(all_completions)))),
    "sampler_mismatch": Mutant(64, recipes(lambda r: replace(r, corrections=()))),
    "reward_scales": Mutant(16, recipes(lambda r: replace(r, advantage=slot(group_normalized)))),
    "kl_estimators": Mutant(16, recipes(lambda r: replace(r, penalty=slot(no_penalty)))),
}
