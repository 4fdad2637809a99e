"""Phrases for RLinf's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.dialects.rlinf.kernels import (
    behaviour_weight,
    mean_below,
    nan_where_empty,
    normalized_thrice,
    reinpp,
    reinpp_with_kl,
    standardized_tokens,
    swapped,
    unless_first_is_empty,
    unless_stopped,
    weighed_unless_first_is_empty,
)
from grpo_ref.explain.phrases import Kernel, Phrase

AGAIN = "{again:()=|(1, 0)=, then twice more|, then once more}"
PHRASES: Mapping[Kernel, Phrase] = {
    behaviour_weight: "importance weights against the sampler per token<, 0 above {max_ratio}>",
    unless_first_is_empty: "no update where the first completion is empty",
    weighed_unless_first_is_empty: "{weights}, none at all if the first completion is empty",
    normalized_thrice: "advantages standardised within groups{group}, then twice over all tokens of the"
    " batch",
    standardized_tokens: "rewards without a group baseline, standardised{again:(1, 0)= twice}"
    " over all tokens of the batch",
    reinpp: f"rewards without a group baseline, standardised over all tokens of the batch{AGAIN}"
    f" (REINFORCE++)",
    reinpp_with_kl: "rewards less KL {kl_coef} ({estimator}) of the token and those after it,"
    f" standardised over all tokens of the batch{AGAIN}"
    f" (REINFORCE++){{tokens_only:False=, the padding's KL too}}",
    mean_below: "mean over the tokens whose ratio to the sampler is at most {max_ratio}",
    nan_where_empty: "token mean within each completion, NaN for an empty one, then mean over completions",
    unless_stopped: "{aggregate}, nothing above a mean ratio of {max_ratio}"
    "{after_empty:True= unless the first completion is empty}",
    swapped: "{estimator} with policy and reference swapped",
}
