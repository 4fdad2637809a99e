"""Wrong implementations, one for a claim about a network: each must flip the verdict on it."""

from dataclasses import replace

import numpy as np
from mutant_experiments import (
    Mutant,
    all_held_back,
    corrected_to_the_contrary,
    misled_by_length,
    one_sided,
    prolonged,
    recipes,
    settings,
    taught_the_opposite,
    unlearned_by_tokens,
    upper_bound_is_a_ratio,
    without_clip,
    without_range,
    without_signal,
)

from grpo_ref import slot
from grpo_ref.aggregation import sequence_mean_token_mean, token_mean
from grpo_ref.corrections import early_stop
from grpo_ref.filters import all_groups


def _zero(rewards):
    """Nothing is learned, so any law predicts the rest."""
    return np.zeros_like(rewards)


def _pushed_away(old_log_probs, rollout_log_probs):
    return -np.ones_like(old_log_probs)


def _corrected_away(experiment):
    """Every importance weight is -1."""
    arms = {
        label: replace(one, settings={**one.settings, "correction": slot(_pushed_away)})
        if one.settings["correction"]
        else one
        for label, one in experiment.arms.items()
    }
    return replace(experiment, arms=arms)


def _longer_if_wrong(rewards, lengths, max_length):
    return rewards + np.where(rewards > 0.0, -1.0, 1.0) * lengths / max_length


def _paid_for_length(recipe):
    """Reward long wrong completions and punish long right ones, if the loss divides by the length."""
    is_divided = recipe.aggregate.kernel is sequence_mean_token_mean
    return replace(recipe, reward=slot(_longer_if_wrong)) if is_divided else recipe


def _nothing_learned_by_batch(recipe):
    """Set all advantages to 0 if the loss divides by the tokens of the batch."""
    return (
        replace(recipe, advantage=slot(without_signal)) if recipe.aggregate.kernel is token_mean else recipe
    )


def _wrong_plans(experiment):
    """The pool never shows the hardest prompt, and whatever is not the pool shows nothing else."""
    easy, hardest = ((1.0, 0.0, 0.5),), ((1.0, 1.0, 1.0),)
    arms = {
        label: replace(
            one,
            settings={
                **one.settings,
                "schedule": easy if label == "pool" else hardest,
                "refilter_every": 0,
            },
        )
        for label, one in experiment.arms.items()
    }
    return replace(experiment, arms=arms)


def _penalty_for_the_reward(recipe):
    """The penalty replaces the reward instead of joining it."""
    return replace(recipe, advantage=slot(without_signal)) if recipe.kl_coef else recipe


def _stopped_always(recipe):
    """The early stop drops every minibatch."""
    always = (slot(early_stop, max_ratio=1e-9),)
    return replace(recipe, corrections=always) if recipe.corrections else recipe


NETWORK_MUTANTS = {
    "two_grpo_network": Mutant(64, recipes(lambda r: replace(r, advantage=slot(without_signal)))),
    "dead_groups_network": Mutant(64, recipes(lambda r: replace(r, keep=slot(all_groups)))),
    "curriculum_network": Mutant(64, _wrong_plans),
    "rate_or_recipe": Mutant(64, settings(factor=1.0)),
    "clip_needed": Mutant(24, recipes(lambda r: replace(r, advantage=slot(without_signal)))),
    "clip_higher_network": Mutant(16, recipes(upper_bound_is_a_ratio)),
    "covariance_clip_network": Mutant(64, recipes(all_held_back)),
    "sequence_ratio_network": Mutant(16, recipes(unlearned_by_tokens)),
    "soft_clipping_network": Mutant(32, recipes(without_range)),
    "rare_gradient_network": Mutant(64, recipes(without_clip)),
    "early_stop_network": Mutant(32, recipes(_stopped_always)),
    "two_sided_clip_network": Mutant(32, recipes(one_sided)),
    "overlong_network": Mutant(48, recipes(misled_by_length)),
    "group_average": Mutant(16, recipes(_nothing_learned_by_batch)),
    "length_bias_network": Mutant(64, recipes(_paid_for_length)),
    "reference_weight_network": Mutant(16, recipes(corrected_to_the_contrary)),
    "entropy_tokens_network": Mutant(32, recipes(lambda r: replace(r, corrections=()))),
    "sampler_mismatch_network": Mutant(64, _corrected_away),
    "bf16_or_fp16": Mutant(16, settings(precision="bfloat16")),
    "noisy_verifier": Mutant(32, settings(accepts_wrong=0.0, rejects_right=0.0)),
    "length_penalty_network": Mutant(64, recipes(prolonged)),
    "distillation_network": Mutant(32, recipes(taught_the_opposite)),
    "reward_hacking_network": Mutant(16, settings(flawless=True)),
    "collapse_network": Mutant(64, recipes(lambda r: replace(r, advantage=slot(without_signal)))),
    "temperature_network": Mutant(72, settings(temperature=1.0)),
    "entropy_law_network": Mutant(16, recipes(lambda r: replace(r, advantage=slot(_zero)))),
    "forgetting": Mutant(32, recipes(_penalty_for_the_reward)),
    "low_rank": Mutant(32, recipes(lambda r: replace(r, advantage=slot(without_signal)))),
}
