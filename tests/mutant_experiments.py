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


def _told_what_is_real(components):
    return components[..., 1]


def _with_penalty(recipe):
    return replace(recipe, reward=slot(_told_what_is_real)) if recipe.kl_coef else recipe


def _misled(experiment: Experiment) -> Experiment:
    """The judges that are not flawless see only answers that mislead them."""
    arms = {
        label: one if "flawless" in one.settings else replace(one, settings={**one.settings, "misled": True})
        for label, one in experiment.arms.items()
    }
    return replace(experiment, arms=arms)


def _without_clip(recipe):
    return (
        replace(recipe, surrogate=slot(importance_weighted)) if recipe.surrogate.kernel is clipped else recipe
    )


MUTANTS = {
    "group_size": Mutant(32, recipes(lambda r: replace(r, advantage=slot(_negated)))),
    "rare_tokens": Mutant(16, recipes(_without_clip)),
    "overlong": Mutant(16, recipes(lambda r: replace(r, admit=slot(all_completions)))),
    "sampler_mismatch": Mutant(8, recipes(lambda r: replace(r, corrections=()))),
    "reward_scales": Mutant(16, recipes(lambda r: replace(r, advantage=slot(group_normalized)))),
    "kl_estimators": Mutant(16, recipes(lambda r: replace(r, penalty=slot(no_penalty)))),
    "reward_hacking": Mutant(16, _misled),
    "early_stopping": Mutant(16, recipes(lambda r: replace(r, kl_coef=-r.kl_coef))),
    "hacked_names": Mutant(16, recipes(_with_penalty)),
    "ref_refresh": Mutant(16, recipes(lambda r: replace(r, kl_coef=0.0))),
    "best_of_n": Mutant(16, recipes(lambda r: replace(r, advantage=slot(_negated)))),
}
