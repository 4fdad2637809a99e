"""Phrases for TRL's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.bounds import clipped_as_given
from grpo_ref.explain.dialects.trl.kernels import (
    cispo_with_any_cap,
    geometric_mean_of_kept,
    sapo_of_any_sign,
    top_entropy_in_float32,
    vespo_in_limits,
    weighted_k3_beside,
)
from grpo_ref.explain.dialects.trl.sampler import beyond_the_cap
from grpo_ref.explain.phrases import PHRASES as COMMON
from grpo_ref.explain.phrases import Kernel, Phrase

PHRASES: Mapping[Kernel, Phrase] = {
    clipped_as_given: "PPO-clip {clip_low}/{clip_high}< with every ratio capped at {max_ratio}>",
    cispo_with_any_cap: "CISPO (a detached weight of {max_ratio} for every token)",
    sapo_of_any_sign: COMMON["sapo"],
    vespo_in_limits: "VESPO (k {k_positive}/{k_negative}, λ {lambda_positive}/{lambda_negative}"
    "<; inside its weight {sampler}>)",
    geometric_mean_of_kept: "GMPO (geometric mean of the kept tokens' ratios, each clipped per token in log"
    " space,"
    " {clip_low}/{clip_high})",
    weighted_k3_beside: "k3 weighted by the ratio of"
    " {level:token=the token|the completion (length-normalised)}",
    top_entropy_in_float32: COMMON["top_entropy"],
    beyond_the_cap: "every token weighted {weight}, as every ratio to the sampler exceeds the cap",
}
