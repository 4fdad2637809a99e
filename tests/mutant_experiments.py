"""Wrong implementations, one for a claim, in the order of `CLAIMS`: each must flip the verdict on it.

A mutant takes the experiment, of which only what decides is left, and breaks the mechanism that the claim is
about; so a claim with a mutant is one whose experiment can fail.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from grpo_ref import (
    Recipe,
    clipped,
    ended_completions,
    fixed_length,
    group_centered,
    group_normalized,
    importance_weighted,
    no_penalty,
    ranked,
    slot,
    soft_overlong,
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


def _multiplied(rewards):
    """Where the deviation is to be divided by, it multiplies, and often."""
    return group_centered(rewards) * rewards.std(-1, keepdims=True) ** 3


def _lowest_first(recipe):
    """Ranks that start at the worst."""
    return replace(recipe, advantage=slot(_reversed)) if recipe.advantage.kernel is ranked else recipe


def _reversed(rewards):
    return ranked(-rewards)


def _only_cut(ended):
    return ~ended


def _misled(recipe):
    """Only what was cut is kept, and length is rewarded."""
    if recipe.admit.kernel is ended_completions:
        return replace(recipe, admit=slot(_only_cut))
    if recipe.reward.kernel is soft_overlong:
        return replace(recipe, reward=slot(_longer))
    return recipe


def _longer(rewards, lengths, max_length):
    return rewards + 10.0 * lengths / max_length


def _without_clip(recipe):
    return (
        replace(recipe, surrogate=slot(importance_weighted)) if recipe.surrogate.kernel is clipped else recipe
    )


def _never_hard(experiment):
    """Whatever is not the pool itself never shows the hardest prompt."""
    easy = {"schedule": ((1.0, 0.0, 0.5),), "refilter_every": 0}
    arms = {
        label: one if label == "pool" else replace(one, settings={**one.settings, **easy})
        for label, one in experiment.arms.items()
    }
    return replace(experiment, arms=arms)


MUTANTS = {
    "group_size": Mutant(32, recipes(lambda r: replace(r, advantage=slot(_negated)))),
    "std_division": Mutant(64, recipes(lambda r: replace(r, advantage=slot(_multiplied)))),
    "curriculum": Mutant(32, _never_hard),
    "rare_tokens": Mutant(16, recipes(_without_clip)),
    "overlong": Mutant(16, recipes(_misled)),
    "length_bias": Mutant(32, recipes(lambda r: replace(r, aggregate=slot(fixed_length)))),
    "sampler_mismatch": Mutant(8, recipes(lambda r: replace(r, corrections=()))),
    "ordinal": Mutant(16, recipes(_lowest_first)),
    "reward_scales": Mutant(16, recipes(lambda r: replace(r, advantage=slot(group_normalized)))),
    "kl_estimators": Mutant(16, recipes(lambda r: replace(r, penalty=slot(no_penalty)))),
}
