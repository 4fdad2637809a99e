"""Phrases for NeMo-RL's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.dialects.nemo_rl.kernels import (
    any_others_differ,
    close_to_sampler,
    compared_after_filter,
    compared_with_others,
    each_compared_after_filter,
    each_compared_then_summed,
    ended_and_close,
    ended_and_others_differ,
    finite_geometric_filter,
    finite_ratio,
    finite_window,
    less_if_cut_off,
    less_overlong,
    limited,
    of_the_policy,
    others_differ,
    ratio_of_one,
    scaled,
    scored,
    scored_against_sampler,
    varied_inside,
    whitened_after_filter,
    whitened_over_tokens,
    whitened_with_penalty,
)
from grpo_ref.explain.phrases import Kernel, Phrase

COMPARED = (
    "{normalized:True=standardised by mean and std|centred by the mean} of"
    " {leave_one_out:True=the other completions of|all completions of} the group{group}"
)
LEFT, LIMITED = " that the filter leaves", "<, limited to {limits}>"
SUMMED = "summed{reward_weights:(1.0,)=| with weights {reward_weights}}, standardised over the batch (GDPO)"
WHITENED = "standardised over all tokens of the batch (REINFORCE++)"
CENTRED = "{baseline:True=rewards centred within groups{group}|rewards without a group baseline}"
SCALED = "<rewards limited to {source} and mapped onto {target}; >"
LEVEL = "{whole:True=per sequence (whole product)|per token}"
BOUNDS = (
    "{max_log_ratio:20.0=|inf=, log-ratio not limited|, log-ratio limited to ±{max_log_ratio}}"
    "{max_value:10.0=|inf=, value not limited|, value limited to ±{max_value}}"
)
ANY_LIMITS = "<, rewards limited to {limits}>"
PHRASES: Mapping[Kernel, Phrase] = {
    # surrogates, penalties
    ratio_of_one: "the policy gradient with the ratio fixed at 1, nothing clipped",
    scored: f"{{estimator}}{BOUNDS}, with the unbiased gradient",
    scored_against_sampler: f"{{estimator}}{BOUNDS}, weighted by the ratio to the sampler, with the unbiased"
    f" gradient",
    # corrections
    finite_ratio: f"{{max_ratio:inf=|truncated }}importance weights against the sampler {LEVEL}, {{within}}",
    finite_window: f"importance weights against the sampler {LEVEL}, 0 {{outside}}",
    finite_geometric_filter: "only completions whose geometric-mean ratio to the sampler is {within}",
    of_the_policy: "{weights}, of the current policy",
    # advantages
    limited: "{scores}, limited to {limits}",
    compared_with_others: f"advantages {COMPARED}",
    compared_after_filter: f"advantages {COMPARED}{LEFT}{LIMITED}",
    each_compared_then_summed: f"each reward {COMPARED}, {SUMMED}{LIMITED}",
    each_compared_after_filter: f"each reward {COMPARED}{LEFT}, {SUMMED}{LIMITED}",
    whitened_over_tokens: f"{CENTRED}, {WHITENED}{LIMITED}",
    whitened_after_filter: f"{CENTRED}, only of what the filter leaves, {WHITENED}{LIMITED}",
    whitened_with_penalty: f"{CENTRED}, each token's own KL {{kl_coef}} ({{penalty}}) subtracted, {WHITENED}"
    f"{LIMITED}",
    # rewards and filters
    scaled: "rewards limited to {source} and mapped onto {target}",
    less_overlong: f"{SCALED}an overlong penalty over the last {{buffer}} of {{longest}} tokens and beyond,"
    " weight {penalty}",
    less_if_cut_off: f"{SCALED}the reward of truncated completions times {{share}}",
    varied_inside: "groups with equal rewards dropped or resampled (dynamic sampling), rewards limited to"
    " {limits}",
    any_others_differ: "groups dropped or resampled in which no completion has other completions with different rewards"
    f"{ANY_LIMITS}",
    others_differ: f"completions masked out if the rewards of the others in their group are equal{ANY_LIMITS}",
    ended_and_others_differ: "completions masked out if truncated, or if the rewards of the others in their group"
    " are equal"
    f"{ANY_LIMITS}",
    close_to_sampler: "completions masked out whose mean exp|log-ratio| to the sampler exceeds {threshold}",
    ended_and_close: "truncated completions, and those whose mean exp|log-ratio| to the sampler exceeds"
    " {threshold}, masked out",
}
