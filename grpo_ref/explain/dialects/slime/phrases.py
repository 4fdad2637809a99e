"""Phrases for slime's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.dialects.slime.kernels import (
    mismatch_weights,
    only_kept,
    spread_above,
    token_mean_of_any,
    weighted_estimate,
    whitened_returns,
    whitened_returns_less_penalty,
    whitened_scores,
    whitened_scores_less_penalty,
    whitened_with_teacher,
)
from grpo_ref.explain.phrases import PHRASES as COMMON
from grpo_ref.explain.phrases import Kernel, Phrase

WHITENED = "standardised over all tokens of the batch"
PHRASES: Mapping[Kernel, Phrase] = {
    mismatch_weights: "importance weights against the sampler (MIS)"
    " {level:token=per token|sequence=per sequence (whole product)|per sequence (length-normalised)},"
    " {mode:truncate=at most {window[1]}|clip=limited to {window}|0 outside {window}}"
    "{normalized:True=, divided by their mean}<; 0 unless the ratio ({reject[0]}) is between {reject[1]} and"
    " {reject[2]}>"
    "<; 0 for completions with a token ratio below {veto}>",
    whitened_scores: f"{{scores}}, then {WHITENED}",
    whitened_scores_less_penalty: f"{{scores}}, each token's own KL {{kl_coef}} ({{penalty}}) subtracted,"
    f" then"
    f" {WHITENED}",
    whitened_with_teacher: f"plus {{coef}} (log πteacher - log πold) per token, then {WHITENED}",
    whitened_returns: f"rewards without a group baseline<, discounted by {{gamma}}>, {WHITENED}"
    f" (REINFORCE++)",
    whitened_returns_less_penalty: "rewards less KL {kl_coef} ({penalty}) of the token and those after it"
    f"<, discounted by {{gamma}}>, {WHITENED} (REINFORCE++)",
    weighted_estimate: "{estimator} weighted by the token's importance ratio<, limited to ±{max_value}>",
    token_mean_of_any: "mean over all tokens, an empty completion counting as one",
    only_kept: "without what the corrections drop{per_token:True=, divided by all tokens}",
    spread_above: COMMON["mixed_groups"],
}
