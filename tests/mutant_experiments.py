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
    step_suffix_sums,
)
from grpo_ref.experiments.claims.learned_critic import Judged
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


def _nothing(rewards):
    return 0.0 * rewards


def _wrong_sign(ref_log_probs):
    return -np.exp(0.0 * ref_log_probs)


def _negated_steps(step_rewards, step_ends):
    return -step_suffix_sums(step_rewards, step_ends)


def _sum_of_group(batch, critic, exact, step):
    total = batch.rewards.sum(-1, keepdims=True)
    return Judged(batch.rewards - total, total + 0.0 * batch.rewards, critic)


def _sum_for_the_mean(experiment):
    right = experiment.arms["group mean"]
    wrong = replace(right, settings={**right.settings, "baseline": _sum_of_group})
    return replace(experiment, arms={**experiment.arms, "group mean": wrong})


def _reward_without_its_penalty(experiment):
    """The penalty is in the loss everywhere, whatever the arm says."""
    arms = experiment.arms
    moved = {"reward": arms["loss"], "reward, divided": arms["loss, divided"]}
    return replace(experiment, arms={**arms, **moved})


def _scaled_against_its_sign(experiment):
    arms = {
        label: replace(
            one,
            settings={**one.settings, "scaled": replace(one.settings["scaled"], advantage=slot(_negated))},
        )
        for label, one in experiment.arms.items()
    }
    return replace(experiment, arms=arms)


MUTANTS = {
    "learned_critic": Mutant(16, _sum_for_the_mean),
    "group_size": Mutant(32, recipes(lambda r: replace(r, advantage=slot(_negated)))),
    "larger_batches": Mutant(16, _scaled_against_its_sign),
    "rare_tokens": Mutant(16, recipes(_without_clip)),
    "overlong": Mutant(16, recipes(lambda r: replace(r, admit=slot(all_completions)))),
    "reference_weight": Mutant(
        16, recipes(lambda r: replace(r, corrections=(slot(_wrong_sign),)) if r.corrections else r)
    ),
    "sampler_mismatch": Mutant(8, recipes(lambda r: replace(r, corrections=()))),
    "reward_scales": Mutant(16, recipes(lambda r: replace(r, advantage=slot(group_normalized)))),
    "process_rewards": Mutant(
        16,
        recipes(
            lambda r: replace(r, advantage=slot(_negated_steps)) if "step_ends" in r.advantage.reads else r
        ),
    ),
    "kl_estimators": Mutant(16, recipes(lambda r: replace(r, penalty=slot(no_penalty)))),
    "pass_at_k": Mutant(16, recipes(lambda r: replace(r, advantage=slot(_nothing)))),
    "positive_negative": Mutant(32, recipes(lambda r: replace(r, advantage=slot(_nothing)))),
    "kl_in_reward": Mutant(8, _reward_without_its_penalty),
}
