"""Experiments: every claim of the literature about the GRPO family that we test, one small file per claim.

A claim is registered by the name of its file in `claims`, here and nowhere else: the command line, the
report, the table of verdicts and the tests follow this list and its order.
"""

import importlib
from typing import TYPE_CHECKING

from grpo_ref.listing import LazyListing

if TYPE_CHECKING:
    from grpo_ref.experiments.framework.experiment import Experiment

CLAIMS = (
    # advantages
    "group_mean",
    "group_size",
    "two_grpo",
    "dead_groups",
    "std_division",
    "curriculum",
    "batch_scaling",
    # clipping
    "clip_higher",
    "covariance_clip",
    "sequence_ratio",
    "soft_clipping",
    "rare_tokens",
    "rare_gradient",
    "early_stop",
    "two_sided_clip",
    # aggregation
    "overlong",
    "length_bias",
    "entropy_tokens",
    # mismatch
    "sampler_mismatch",
    "staleness",
    # rewards
    "ordinal",
    "reward_scales",
    "random_rewards",
    "length_penalty",
    # divergence
    "kl_estimators",
    "leave_one_out",
    "reward_hacking",
    "early_stopping",
    "hacked_names",
    "collapse",
    "collapse_alarm",
    "temperature",
    "entropy_law",
    "ref_refresh",
    "kl_optimum",
    "best_of_n",
)


def _experiment(name: str) -> "Experiment":
    """`EXPERIMENT` of a claim's file."""
    experiment: Experiment = importlib.import_module(f"{__name__}.claims.{name}").EXPERIMENT
    return experiment


EXPERIMENTS: "LazyListing[Experiment]" = LazyListing("experiment", CLAIMS, _experiment)
"""Every experiment by name; a claim is imported when it is looked up, so that their names cost nothing."""
