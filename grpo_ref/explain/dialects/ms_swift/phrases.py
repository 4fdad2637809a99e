"""Phrases for ms-swift's own kernels."""

import math
from collections.abc import Mapping

from grpo_ref.explain.dialects.ms_swift.kernels import centered_then_scaled, overlong, penalized, scaled_up
from grpo_ref.explain.dialects.ms_swift.losses import (
    by_token,
    divided_again,
    fresh_token_mean,
    future_kl,
    ranked_in_group,
    top_entropy_of_batch,
    weighed_k3,
)
from grpo_ref.explain.phrases import PHRASES as COMMON
from grpo_ref.explain.phrases import Kernel, Phrase


def _future(
    half_life: float, width: float | None, high_only: bool, max_ratio: float, safe_ratio: float
) -> str:
    """Describe the limits of FIPO's weights."""
    low, high = 1.0 if high_only else 1.0 - (width or 0.0), 1.0 + (width or 0.0)
    told = {
        "half-life {half_life} tokens": True,
        f"between {low:g} and {high:g}": bool(width),
        "tokens with a ratio above {max_ratio} not counted": max_ratio < math.inf,
        "0.8 to 1 for negative advantages with a ratio above {safe_ratio}": safe_ratio < math.inf,
    }
    return f"FIPO's future-KL weights ({', '.join(text for text, is_on in told.items() if is_on)})"


PHRASES: Mapping[Kernel, Phrase] = {
    by_token: "{gain}, the gradient to each token by itself (GSPO-token)",
    ranked_in_group: "REAL (good completions of a group classified against bad ones, temperature {tau})",
    future_kl: _future,
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
