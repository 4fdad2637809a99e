"""Wrong implementations, one for a claim, in the order of `CLAIMS`: each must flip the verdict on it.

A mutant takes the experiment, of which only what decides is left, and breaks the mechanism that the claim is
about; so a claim with a mutant is one whose experiment can fail.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from grpo_ref import (
    Recipe,
    all_completions,
    clipped,
    fixed_length,
    group_centered,
    group_normalized,
    importance_weighted,
    no_penalty,
    slot,
)
from grpo_ref.experiments.framework.experiment import Experiment


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


def _unshared(experiment):
    """No prompt shares a step with another."""
    arms = {
        label: replace(one, settings={**one.settings, "shared": False})
        for label, one in experiment.arms.items()
    }
    return replace(experiment, arms=arms)


MUTANTS = {
    "group_size": Mutant(32, recipes(lambda r: replace(r, advantage=slot(_negated)))),
    "std_division": Mutant(16, recipes(lambda r: replace(r, advantage=slot(group_centered)))),
    "curriculum": Mutant(16, _unshared),
    "rare_tokens": Mutant(16, recipes(_without_clip)),
    "overlong": Mutant(16, recipes(lambda r: replace(r, admit=slot(all_completions)))),
    "length_bias": Mutant(16, recipes(lambda r: replace(r, aggregate=slot(fixed_length)))),
    "sampler_mismatch": Mutant(8, recipes(lambda r: replace(r, corrections=()))),
    "ordinal": Mutant(16, recipes(lambda r: replace(r, advantage=slot(group_normalized)))),
    "reward_scales": Mutant(16, recipes(lambda r: replace(r, advantage=slot(group_normalized)))),
    "kl_estimators": Mutant(16, recipes(lambda r: replace(r, penalty=slot(no_penalty)))),
}
