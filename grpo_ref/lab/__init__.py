"""Experiments that test claims of the literature about GRPO and its variants, one small file per claim.

A claim is registered once, by the name of its file in `claims`, in the list below. The command line, the
report, the table of verdicts and the tests follow this list and its order.
"""

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING

from grpo_ref.listing import LazyListing

if TYPE_CHECKING:
    from grpo_ref.lab.framework.experiment import Experiment

CLAIMS = (
    # advantages
    "group_mean",
    "learned_critic",
    "group_size",
    "two_grpo",
    "two_grpo_network",
    "dead_groups",
    "dead_groups_network",
    "std_division",
    "curriculum",
    "curriculum_network",
    "batch_scaling",
    "larger_batches",
    "rate_or_recipe",
    "turn_credit",
    "observation_mask",
    # clipping
    "clip_needed",
    "clip_higher",
    "clip_higher_network",
    "covariance_clip",
    "covariance_clip_network",
    "sequence_ratio",
    "sequence_ratio_network",
    "soft_clipping",
    "soft_clipping_network",
    "rare_tokens",
    "rare_gradient",
    "rare_gradient_network",
    "early_stop",
    "early_stop_network",
    "two_sided_clip",
    "two_sided_clip_network",
    # aggregation
    "overlong",
    "overlong_network",
    "group_average",
    "length_bias",
    "length_bias_network",
    "reference_weight",
    "reference_weight_network",
    "entropy_tokens",
    "entropy_tokens_network",
    # mismatch
    "sampler_mismatch",
    "sampler_mismatch_network",
    "bf16_or_fp16",
    "mismatch_length",
    "staleness",
    # rewards
    "ordinal",
    "reward_scales",
    "process_rewards",
    "random_rewards",
    "noisy_verifier",
    "length_penalty",
    "length_penalty_network",
    "distillation",
    "distillation_network",
    # divergence
    "kl_estimators",
    "leave_one_out",
    "reward_hacking",
    "reward_hacking_network",
    "early_stopping",
    "hacked_names",
    "collapse",
    "collapse_network",
    "collapse_alarm",
    "temperature",
    "temperature_network",
    "pass_at_k",
    "positive_negative",
    "entropy_law",
    "entropy_law_network",
    "ref_refresh",
    "forgetting",
    "kl_optimum",
    "kl_in_reward",
    "best_of_n",
    # learning
    "low_rank",
)


def _experiment(name: str) -> "Experiment":
    """Return `EXPERIMENT` of a claim's file, with its clauses."""
    from grpo_ref.lab.framework.clauses import clauses_of

    experiment: Experiment = importlib.import_module(f"{__name__}.claims.{name}").EXPERIMENT
    return replace(experiment, clauses=clauses_of(name))


EXPERIMENTS: "LazyListing[Experiment]" = LazyListing("experiment", CLAIMS, _experiment)
"""All experiments by name. A claim's file is imported at its first look-up, so listing names is cheap."""
