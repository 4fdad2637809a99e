"""Phrases for AReaL's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.dialects.areal.kernels import (
    at_ratio_one,
    at_ratio_one_of_what_is_kept,
    normalized,
    of_learner,
    of_learner_since,
    of_mean_advantage,
    of_one_weight,
    of_what_is_kept,
    rejected,
    rescaled,
    returned,
    returned_with_penalty,
    returned_with_samplers_penalty,
    returned_without_reference,
    returned_without_reference_of_sampler,
    second_moment_mask_then,
)
from grpo_ref.explain.phrases import Kernel, Phrase

MISSING = "a missing reference (log-probability 0)"
AFTERWARDS = "<, decaying by {decay} per token><; then over all tokens {norm}>"
PHRASES: Mapping[Kernel, Phrase] = {
    # surrogates
    at_ratio_one: "{surrogate}, the ratio fixed at 1",
    of_mean_advantage: "{surrogate}, the advantage a mean over the completion",
    of_what_is_kept: "{surrogate}, ratio and advantage per sequence (means over the kept tokens)",
    at_ratio_one_of_what_is_kept: "{surrogate}, the ratio fixed at 1, the advantage per sequence (mean over"
    " the kept"
    " tokens)",
    # corrections
    rejected: "importance weights against the sampler {level:token=per token|per sequence},"
    " {action:mask=0|limited} where"
    " its {metric:ratio=ratio|kl_k1=k1|kl_k2=k2|k3}{level:token=| ({agg} over tokens)} is <below {lower} or"
    " >above {upper}",
    second_moment_mask_then: "M2PO's mask, the mean squared log-ratio to the sampler below {threshold};"
    " {then}",
    of_learner: "{then}, of the current policy",
    of_learner_since: "{then}, of the current policy, with the old one for the sampler",
    of_one_weight: "every token weighted {weight}, as no mismatch is measured",
    # advantages
    normalized: "advantages"
    " {mean_level:None=not centred|group=centred by the mean of the group{group}|centred by the"
    " mean of the batch}{leave_one_out:True= without itself}"
    "{std_level:None=|group=, divided by the std of the group|batch=, divided by the std of the batch}<"
    " (ddof {ddof})>",
    returned: f"{{scores}}{AFTERWARDS}",
    returned_with_penalty: f"{{scores}}; KL {{kl_coef}} ({{penalty}}) of the token and those after it"
    f" subtracted"
    f"{AFTERWARDS}",
    returned_with_samplers_penalty: "{scores}; the sampler's KL {kl_coef} ({penalty}) of the token and those"
    " after it"
    f" subtracted{AFTERWARDS}",
    returned_without_reference: f"{{scores}}; KL {{kl_coef}} ({{penalty}}) of the token and those after it,"
    f" to {MISSING},"
    f" subtracted{AFTERWARDS}",
    returned_without_reference_of_sampler: f"{{scores}}; the sampler's KL {{kl_coef}} ({{penalty}}) of the"
    f" token and"
    f" those after it, to {MISSING}, subtracted{AFTERWARDS}",
    # rewards
    rescaled: "<an overlong penalty over the last {tail} of {budget} tokens and beyond, weight {factor}; >"
    "rewards< plus {bias},>< times {scale},> limited to ±{limit}",
}
