"""Phrases for verl's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.dialects.verl.kernels import (
    afresh,
    close_to_sampler,
    dppo_kl_against_old,
    dppo_tv_against_old,
    geometric_mean_per_token,
    geometric_mean_weight,
    groups_with_a_std,
    limited_k3,
    overlong_in_tokens,
    returned_with_penalty,
    share_of_kept,
    summed_over_rows,
)
from grpo_ref.explain.penalty_in_reward import penalized
from grpo_ref.explain.phrases import PHRASES as COMMON
from grpo_ref.explain.phrases import Kernel, Phrase

PHRASES: Mapping[Kernel, Phrase] = {
    penalized: "KL {kl_coef} ({penalty}) subtracted from the reward, then {scores}",
    returned_with_penalty: "token returns discounted by {gamma}, less a KL {kl_coef} ({penalty}) at each token,"
    " whitened over the batch (REINFORCE++)",
    geometric_mean_per_token: COMMON["geometric_mean_clipped"],
    limited_k3: "k3",
    summed_over_rows: "token sum divided by a constant length{budget}, summed over the completions",
    overlong_in_tokens: "an overlong penalty over the last {buffer} of {budget} tokens and beyond, weight"
    " {factor}",
    groups_with_a_std: COMMON["mixed_groups"],
    dppo_tv_against_old: "DPPO's mask by total variation from the policy at the start of the update, {low}/{high},"
    " ratios at most {max_ratio}",
    dppo_kl_against_old: "DPPO's mask by KL from the policy at the start of the update, {low}/{high}, ratios at"
    " most {max_ratio}",
    close_to_sampler: "only tokens close to the sampler ({bounds}), the rest masked out",
    share_of_kept: "weight 0 for tokens not close to the sampler ({bounds}), the KL penalty left on them"
    "{per_length:True=, lengths counting kept tokens only}",
    geometric_mean_weight: "for each completion the geometric mean of {weights}",
    afresh: "{part}, measured with the current policy at each step",
}
