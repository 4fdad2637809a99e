"""Wrong implementations, one for a claim, in the order of `CLAIMS`: each must flip the verdict on it.

A mutant takes the experiment, of which only what decides is left, and breaks the mechanism that the claim is
about; so a claim with a mutant is one whose experiment can fail.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from grpo_ref import (
    Recipe,
    all_completions,
    clip_cov,
    clipped,
    group_normalized,
    importance_weighted,
    no_penalty,
    slot,
    soft_overlong,
    two_sided_clipped,
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


def settings(**changed: Any) -> Callable[[Experiment], Experiment]:
    """Some settings of every arm are changed."""

    def changes(experiment: Experiment) -> Experiment:
        arms = {
            label: replace(one, settings={**one.settings, **changed})
            for label, one in experiment.arms.items()
        }
        return replace(experiment, arms=arms)

    return changes


def _negated(rewards):
    return -group_normalized(rewards)


def _without_clip(recipe):
    return (
        replace(recipe, surrogate=slot(importance_weighted)) if recipe.surrogate.kernel is clipped else recipe
    )


def _all_held_back(recipe):
    is_plain = recipe.surrogate.kernel is clipped
    return recipe if is_plain else replace(recipe, surrogate=slot(clip_cov, share=1.0, cov_low=-1e9))


def _one_sided(recipe):
    is_two_sided = recipe.surrogate.kernel is two_sided_clipped
    return replace(recipe, surrogate=slot(clipped)) if is_two_sided else recipe


def _only_length(rewards, lengths, max_length):
    return 0.0 * rewards + lengths / max_length


def _prolonged(recipe):
    is_soft = recipe.reward.kernel is soft_overlong
    return replace(recipe, reward=slot(_only_length)) if is_soft else recipe


MUTANTS = {
    "group_size": Mutant(32, recipes(lambda r: replace(r, advantage=slot(_negated)))),
    "covariance_clip": Mutant(16, recipes(_all_held_back)),
    "rare_tokens": Mutant(16, recipes(_without_clip)),
    "two_sided_clip": Mutant(24, recipes(_one_sided)),
    "overlong": Mutant(16, recipes(lambda r: replace(r, admit=slot(all_completions)))),
    "entropy_tokens": Mutant(16, recipes(lambda r: replace(r, corrections=()))),
    "sampler_mismatch": Mutant(8, recipes(lambda r: replace(r, corrections=()))),
    "staleness": Mutant(16, settings(anchor="sampler")),
    "reward_scales": Mutant(16, recipes(lambda r: replace(r, advantage=slot(group_normalized)))),
    "random_rewards": Mutant(32, settings(pays="right")),
    "length_penalty": Mutant(16, recipes(_prolonged)),
    "kl_estimators": Mutant(16, recipes(lambda r: replace(r, penalty=slot(no_penalty)))),
    "entropy_law": Mutant(16, settings(law="H")),
}
