"""Phrases for SkyRL's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.dialects.common.kernels import returned_with_penalty, turn_token_mean
from grpo_ref.explain.dialects.skyrl.kernels import (
    cispo_against_sampler,
    clip_cov_of_scaled,
    contrasted,
    contrasted_groups,
    dppo_kl_against_sampler,
    dppo_tv_against_sampler,
    ended_and_contrasted,
    groups_with_a_std,
    kl_cov_of_scaled,
    micro_batch_token_mean,
    normalized_with_padding,
    normalized_with_padding_after_penalty,
    of_what_is_left,
    overlong_in_tokens,
    prompt_mean,
    zero_if_cut_off,
)
from grpo_ref.explain.penalty_in_reward import penalized
from grpo_ref.explain.phrases import PHRASES as COMMON
from grpo_ref.explain.phrases import Kernel, Phrase

PADDED = "{scores}, then standardised over the batch, the mean taken over the padding too"
PHRASES: Mapping[Kernel, Phrase] = {
    # surrogates
    cispo_against_sampler: "CISPO (the ratio to the sampler as detached weight, {within})",
    dppo_tv_against_sampler: "DPPO's mask by total variation from the sampler, {low}/{high}",
    dppo_kl_against_sampler: "DPPO's mask by KL from the sampler, {low}/{high}",
    clip_cov_of_scaled: "PPO-clip {clip_low}/{clip_high} with Clip-Cov on a share of {share} of the tokens"
    " (covariance {cov_low} to {cov_high} of advantages already averaged)",
    kl_cov_of_scaled: "KL-Cov (a penalty of {coef}, summed and not averaged, on a share of {share} of the"
    " tokens)",
    # corrections
    of_what_is_left: "{part}, over the tokens whose ratio to the sampler is {within}",
    # advantages
    penalized: "KL {kl_coef} ({penalty}, summed over tokens) subtracted from the reward, then {scores}",
    returned_with_penalty: "rewards less KL {kl_coef} ({penalty}) of the token and those after it"
    "<, discounted by {gamma}>, whitened over the batch (REINFORCE++)",
    normalized_with_padding: PADDED,
    normalized_with_padding_after_penalty: PADDED,
    # aggregations
    turn_token_mean: "token mean within each turn, then mean over turns",
    prompt_mean: "mean over the tokens of each prompt, then mean over prompts",
    micro_batch_token_mean: "mean over the tokens of every {rows} completions, then mean over these",
    # rewards and filters
    overlong_in_tokens: "an overlong penalty over the last {buffer} of {budget} tokens, weight {factor};"
    " longer ones"
    " get reward 0",
    zero_if_cut_off: "truncated completions get reward 0",
    groups_with_a_std: COMMON["mixed_groups"],
    contrasted: "groups whose rewards differ by at most {tol} masked out",
    contrasted_groups: "groups whose rewards differ by at most {tol} resampled (dynamic sampling)",
    ended_and_contrasted: "truncated completions masked out, and groups whose other rewards differ by at"
    " most {tol}",
}
