"""Phrases for EasyR1's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.dialects.common.kernels import returned_with_penalty
from grpo_ref.explain.dialects.easy_r1.kernels import dual_clipped_per_token, mean_between
from grpo_ref.explain.penalty_in_reward import penalized
from grpo_ref.explain.phrases import Kernel, Phrase

PHRASES: Mapping[Kernel, Phrase] = {
    dual_clipped_per_token: "GSPO-token's clip, {clip_low}/{clip_high}, with a dual clip at {max_ratio}",
    penalized: "KL {kl_coef} ({penalty}, summed over tokens) subtracted from the reward, then {scores}",
    returned_with_penalty: "rewards less KL {kl_coef} ({penalty}) of the token and those after it"
    "<, discounted by {gamma}>, whitened over the batch (REINFORCE++)",
    mean_between: "only groups whose mean score is between {low} and {high}",
}
