"""Wrong implementations, one for a claim about a table: each must flip the verdict on it.

A mutant takes the experiment, of which only what decides is left, and breaks the mechanism that the claim is
about; so a claim with a mutant is one whose experiment can fail.
"""

from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from grpo_ref import Recipe, group_normalized, slot
from grpo_ref.advantages import batch_scaled, group_centered, ranked, step_suffix_sums, with_teacher
from grpo_ref.aggregation import fixed_length, token_mean
from grpo_ref.filters import all_groups, ended_completions
from grpo_ref.lab.claims.entropy_law import foretold
from grpo_ref.lab.claims.learned_critic import Judged
from grpo_ref.lab.framework.experiment import Experiment, arm
from grpo_ref.lab.framework.sweep import at_middle, run_experiment
from grpo_ref.levels import token_level
from grpo_ref.penalties import k2, k3, no_penalty
from grpo_ref.rewards import soft_overlong
from grpo_ref.surrogates import clip_cov, clipped, importance_weighted, two_sided_clipped
from grpo_ref.types import Term


class Mutant(NamedTuple):
    """A wrong implementation.

    Attributes:
      seeds: how many are enough to see the verdict flip.
      change: breaks the experiment.
    """

    seeds: int
    change: Callable[[Experiment], Experiment]


def decisive(experiment: Experiment) -> Experiment:
    """What decides a claim, with nothing left to choose: quicker to run."""
    main = tuple(one for one in experiment.predictions if one.main) or experiment.predictions
    named = {label for one in main for label in (one.left, one.right)}
    arms = {label: one for label, one in at_middle(experiment).arms.items() if label in named}
    return replace(experiment, arms=arms, predictions=main, clauses=())


def flips(experiment: Experiment, mutant: Mutant) -> bool:
    """Return True if a prediction that decides holds, or is refuted, only in one of both experiments."""
    right = decisive(experiment)
    results = [run_experiment(one, seeds=mutant.seeds) for one in (right, mutant.change(right))]
    outcomes = [[one.outcome for one in result.findings] for result in results]
    shown = [[one if one in ("holds", "opposite") else "neither" for one in each] for each in outcomes]
    return shown[0] != shown[1]


def recipes(change: Callable[[Recipe], Recipe]) -> Callable[[Experiment], Experiment]:
    """Every recipe of the experiment is changed in the same way."""
    return lambda experiment: experiment.mutated(change)


def _negated(rewards):
    return -group_normalized(rewards)


def _misjudged(experiment):
    """The judges that are not flawless see only answers that mislead them."""
    arms = {
        label: one if "flawless" in one.settings else replace(one, settings={**one.settings, "misled": True})
        for label, one in experiment.arms.items()
    }
    return replace(experiment, arms=arms)


def without_clip(recipe):
    return (
        replace(recipe, surrogate=slot(importance_weighted)) if recipe.surrogate.kernel is clipped else recipe
    )


def corrected_to_the_contrary(recipe):
    return replace(recipe, corrections=(slot(_wrong_sign),)) if recipe.corrections else recipe


def _wrong_sign(ref_log_probs):
    return -np.exp(0.0 * ref_log_probs)


def _negated_steps(step_rewards, step_ends):
    return -step_suffix_sums(step_rewards, step_ends)


def _sum_of_group(batch, critic, exact, step):
    total = batch.rewards.sum(-1, keepdims=True)
    return Judged(batch.rewards - total, total + 0.0 * batch.rewards, critic)


def _sum_for_the_mean(experiment):
    """The group's sum takes the place of its mean in every arm."""
    arms = {
        label: replace(one, settings={**one.settings, "baseline": _sum_of_group})
        if label.startswith("group mean")
        else one
        for label, one in experiment.arms.items()
    }
    return replace(experiment, arms=arms)


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


def settings(**fixed: Any) -> Callable[[Experiment], Experiment]:
    """The same settings for every arm that can have them: what the arms were to differ in is ignored."""

    def changed(experiment):
        arms = {}
        for label, one in experiment.arms.items():
            taken = {name: value for name, value in fixed.items() if name in signature(one.run).parameters}
            arms[label] = replace(one, settings={**one.settings, **taken})
        return replace(experiment, arms=arms)

    return changed


def without_signal(rewards):
    return 0.0 * rewards


def _spoiled_together(recipe):
    both = recipe.advantage.kernel is batch_scaled and recipe.aggregate.kernel is token_mean
    return replace(recipe, advantage=slot(_negated)) if both else recipe


def unlearned_by_tokens(recipe):
    return replace(recipe, advantage=slot(_negated)) if recipe.level is token_level else recipe


def without_range(recipe):
    hard = recipe.surrogate.kernel is clipped
    return replace(recipe, surrogate=slot(clipped, clip_low=1e-9, clip_high=1e-9)) if hard else recipe


def _divided(recipe):
    centered = recipe.advantage.kernel is group_centered
    return replace(recipe, advantage=slot(group_normalized)) if centered else recipe


def _other_direction(recipe):
    return replace(recipe, penalty=slot(k3)) if recipe.penalty.kernel is k2 else recipe


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


def misled_by_length(recipe):
    """Only what was cut is kept, and length is rewarded."""
    if recipe.admit.kernel is ended_completions:
        return replace(recipe, admit=slot(_only_cut))
    if recipe.reward.kernel is soft_overlong:
        return replace(recipe, reward=slot(_longer))
    return recipe


def _longer(rewards, lengths, max_length):
    return rewards + 10.0 * lengths / max_length


def _never_hard(experiment):
    """Whatever is not the pool itself never shows the hardest prompt."""
    easy = {"schedule": ((1.0, 0.0, 0.5),), "refilter_every": 0}
    arms = {
        label: one if label == "pool" else replace(one, settings={**one.settings, **easy})
        for label, one in experiment.arms.items()
    }
    return replace(experiment, arms=arms)


def upper_bound_is_a_ratio(recipe):
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


def all_held_back(recipe):
    is_plain = recipe.surrogate.kernel is clipped
    return recipe if is_plain else replace(recipe, surrogate=slot(clip_cov, share=1.0, cov_low=-1e9))


def one_sided(recipe):
    is_two_sided = recipe.surrogate.kernel is two_sided_clipped
    return replace(recipe, surrogate=slot(clipped)) if is_two_sided else recipe


def _only_length(rewards, lengths, max_length):
    return 0.0 * rewards + lengths / max_length


def prolonged(recipe):
    is_soft = recipe.reward.kernel is soft_overlong
    return replace(recipe, reward=slot(_only_length)) if is_soft else recipe


def _told_what_is_real(components):
    return components[..., 1]


def _foretold_by_updates(**settings):
    measures = foretold(**settings)
    return measures | {"error, exp(H)": measures["error, log(update)"]}


def _by_the_updates(experiment):
    """The number of updates is taken for exp(H)."""
    arms = {label: replace(one, run=_foretold_by_updates) for label, one in experiment.arms.items()}
    return replace(experiment, arms=arms)


def _with_penalty(recipe):
    return replace(recipe, reward=slot(_told_what_is_real)) if recipe.kl_coef else recipe


def _no_signal_from_turns(recipe):
    return replace(recipe, advantage=slot(without_signal)) if "turn_ids" in recipe.reads else recipe


def _everything_masked(experiment):
    """The mask covers the policy's tokens, too, so that nothing is learned behind it."""
    arms = {
        label: replace(
            one,
            settings={
                **one.settings,
                "recipe": replace(one.settings["recipe"], advantage=slot(without_signal)),
            },
        )
        if one.settings["masked"]
        else one
        for label, one in experiment.arms.items()
    }
    return replace(experiment, arms=arms)


def taught_the_opposite(recipe):
    """The advantage is student minus teacher."""
    if recipe.distill is None:
        return recipe
    return replace(recipe, distill=slot(with_teacher, **{**recipe.distill.settings, "coef": -1.0}))


MUTANTS = {
    "group_mean": Mutant(16, settings(group_size=2)),
    "learned_critic": Mutant(16, _sum_for_the_mean),
    "group_size": Mutant(32, recipes(lambda r: replace(r, advantage=slot(_negated)))),
    "two_grpo": Mutant(32, recipes(lambda r: replace(r, advantage=slot(without_signal)))),
    "dead_groups": Mutant(32, recipes(lambda r: replace(r, keep=slot(all_groups)))),
    "std_division": Mutant(8, recipes(lambda r: replace(r, advantage=slot(_multiplied)))),
    "curriculum": Mutant(32, _never_hard),
    "batch_scaling": Mutant(16, recipes(_spoiled_together)),
    "larger_batches": Mutant(16, _scaled_against_its_sign),
    "turn_credit": Mutant(16, recipes(_no_signal_from_turns)),
    "observation_mask": Mutant(48, _everything_masked),
    "clip_higher": Mutant(16, recipes(upper_bound_is_a_ratio)),
    "covariance_clip": Mutant(16, recipes(all_held_back)),
    "sequence_ratio": Mutant(32, recipes(unlearned_by_tokens)),
    "soft_clipping": Mutant(16, recipes(without_range)),
    "rare_tokens": Mutant(16, recipes(without_clip)),
    "rare_gradient": Mutant(32, recipes(_bounds_in_percent)),
    "early_stop": Mutant(32, _stopped_after_one_step),
    "two_sided_clip": Mutant(24, recipes(one_sided)),
    "overlong": Mutant(16, recipes(misled_by_length)),
    "length_bias": Mutant(32, recipes(lambda r: replace(r, aggregate=slot(fixed_length)))),
    "reference_weight": Mutant(16, recipes(corrected_to_the_contrary)),
    "entropy_tokens": Mutant(16, recipes(lambda r: replace(r, corrections=()))),
    "sampler_mismatch": Mutant(64, recipes(lambda r: replace(r, corrections=()))),
    "mismatch_length": Mutant(64, recipes(lambda r: replace(r, corrections=()))),
    "staleness": Mutant(16, settings(anchor="sampler")),
    "ordinal": Mutant(16, recipes(_lowest_first)),
    "reward_scales": Mutant(16, recipes(lambda r: replace(r, advantage=slot(group_normalized)))),
    "process_rewards": Mutant(
        16,
        recipes(
            lambda r: replace(r, advantage=slot(_negated_steps)) if "step_ends" in r.advantage.reads else r
        ),
    ),
    "random_rewards": Mutant(32, settings(pays="right")),
    "length_penalty": Mutant(16, recipes(prolonged)),
    "distillation": Mutant(32, recipes(taught_the_opposite)),
    "kl_estimators": Mutant(64, recipes(lambda r: replace(r, penalty=slot(no_penalty)))),
    "leave_one_out": Mutant(16, recipes(_divided)),
    "reward_hacking": Mutant(16, _misjudged),
    "early_stopping": Mutant(16, recipes(lambda r: replace(r, kl_coef=-r.kl_coef))),
    "hacked_names": Mutant(16, recipes(_with_penalty)),
    "collapse": Mutant(32, settings(weights=(0.1, 0.0, 0.0))),
    "collapse_alarm": Mutant(16, settings(signals=("entropy", "distinct_bigrams"))),
    "temperature": Mutant(16, settings(temperature=1.0)),
    "pass_at_k": Mutant(16, recipes(lambda r: replace(r, advantage=slot(without_signal)))),
    "positive_negative": Mutant(32, recipes(lambda r: replace(r, advantage=slot(without_signal)))),
    "entropy_law": Mutant(16, _by_the_updates),
    "ref_refresh": Mutant(16, recipes(lambda r: replace(r, kl_coef=0.0))),
    "kl_optimum": Mutant(16, recipes(_other_direction)),
    "kl_in_reward": Mutant(8, _reward_without_its_penalty),
    "best_of_n": Mutant(16, recipes(lambda r: replace(r, advantage=slot(_negated)))),
}
