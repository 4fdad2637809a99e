"""Phrases for ms-swift's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.dialects.ms_swift.kernels import centered_then_scaled, overlong, penalized, scaled_up
from grpo_ref.explain.dialects.ms_swift.losses import (
    by_token,
    divided_again,
    fresh_token_mean,
    top_entropy_of_batch,
    weighed_k3,
)
from grpo_ref.explain.phrases import PHRASES as COMMON
from grpo_ref.explain.phrases import Kernel, Phrase

PHRASES: Mapping[Kernel, Phrase] = {
    by_token: "{gain}, the gradient to each token by itself (GSPO-token)",
    top_entropy_of_batch: COMMON["top_entropy"],
    weighed_k3: "k3 weighted like the surrogate",
    scaled_up: "{scores}, times G/(G - 1) as for a leave-one-out mean",
    centered_then_scaled: "advantages centred within groups{group}, then divided by their own std over the"
    " batch",
    penalized: "KL {kl_coef} (k1, summed over tokens) subtracted from the reward, then {scores}",
    divided_again: "mean over all tokens, divided once more by {steps} micro-batches",
    fresh_token_mean: "mean over the tokens that are not dropped",
    overlong: "an overlong penalty over the last {cache} of {longest} tokens and beyond, weight {weight}",
}
