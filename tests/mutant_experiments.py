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
    all_groups,
    batch_scaled,
    clipped,
    group_centered,
    group_normalized,
    importance_weighted,
    k2,
    k3,
    no_penalty,
    slot,
    token_level,
    token_mean,
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


def settings(**fixed: Any) -> Callable[[Experiment], Experiment]:
    """The same settings for every arm that has them: what the arms were to differ in is ignored."""

    def changed(experiment):
        arms = {
            label: replace(
                one, settings=one.settings | {name: fixed[name] for name in fixed if name in one.settings}
            )
            for label, one in experiment.arms.items()
        }
        return replace(experiment, arms=arms)

    return changed


def _negated(rewards):
    return -group_normalized(rewards)


def _without_signal(rewards):
    return 0.0 * rewards


def _without_clip(recipe):
    return (
        replace(recipe, surrogate=slot(importance_weighted)) if recipe.surrogate.kernel is clipped else recipe
    )


def _spoiled_together(recipe):
    both = recipe.advantage.kernel is batch_scaled and recipe.aggregate.kernel is token_mean
    return replace(recipe, advantage=slot(_negated)) if both else recipe


def _unlearned_by_tokens(recipe):
    return replace(recipe, advantage=slot(_negated)) if recipe.level is token_level else recipe


def _without_range(recipe):
    hard = recipe.surrogate.kernel is clipped
    return replace(recipe, surrogate=slot(clipped, clip_low=1e-9, clip_high=1e-9)) if hard else recipe


def _divided(recipe):
    centered = recipe.advantage.kernel is group_centered
    return replace(recipe, advantage=slot(group_normalized)) if centered else recipe


def _other_direction(recipe):
    return replace(recipe, penalty=slot(k3)) if recipe.penalty.kernel is k2 else recipe


MUTANTS = {
    "group_mean": Mutant(16, settings(group_size=2)),
    "group_size": Mutant(32, recipes(lambda r: replace(r, advantage=slot(_negated)))),
    "two_grpo": Mutant(32, recipes(lambda r: replace(r, advantage=slot(_without_signal)))),
    "dead_groups": Mutant(32, recipes(lambda r: replace(r, keep=slot(all_groups)))),
    "batch_scaling": Mutant(16, recipes(_spoiled_together)),
    "sequence_ratio": Mutant(32, recipes(_unlearned_by_tokens)),
    "soft_clipping": Mutant(16, recipes(_without_range)),
    "rare_tokens": Mutant(16, recipes(_without_clip)),
    "overlong": Mutant(16, recipes(lambda r: replace(r, admit=slot(all_completions)))),
    "sampler_mismatch": Mutant(8, recipes(lambda r: replace(r, corrections=()))),
    "reward_scales": Mutant(16, recipes(lambda r: replace(r, advantage=slot(group_normalized)))),
    "kl_estimators": Mutant(64, recipes(lambda r: replace(r, penalty=slot(no_penalty)))),
    "leave_one_out": Mutant(16, recipes(_divided)),
    "collapse": Mutant(32, settings(weights=(0.1, 0.0, 0.0))),
    "collapse_alarm": Mutant(16, settings(signals=("entropy", "distinct_bigrams"))),
    "temperature": Mutant(16, settings(temperature=1.0)),
    "kl_optimum": Mutant(16, recipes(_other_direction)),
}
