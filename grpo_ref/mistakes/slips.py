"""Recipes one mistake away from a given one: what people write when they mean it."""

from collections.abc import Iterator
from typing import Any

from grpo_ref.arrays import Array, array_namespace
from grpo_ref.kernels.aggregation import (
    fixed_length,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
    token_sum,
)
from grpo_ref.kernels.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.kernels.penalties import absolute, k1, k2, k3, weighted_k3
from grpo_ref.kernels.surrogates import (
    cispo,
    clipped,
    dual_clipped,
    gspo_token,
    importance_weighted,
    reinforce,
)
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.types import Term


def swapped_k3(log_probs: Array, ref_log_probs: Array) -> Term:
    """k3 with policy and reference exchanged: eᵛ - 1 - v, v = log πθ - log πref."""
    term = k3(ref_log_probs, log_probs)
    return Term(value=term.value, direct=array_namespace(log_probs).expm1(log_probs - ref_log_probs))


def inverted(log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2) -> Term:
    """The clipped surrogate of πold / πθ."""
    term = clipped(-log_ratio, advantages, clip_low=clip_low, clip_high=clip_high)
    return Term(value=term.value, slope=-term.slope)


def clip_without_min(
    log_ratio: Array, advantages: Array, *, clip_low: float = 0.2, clip_high: float = 0.2
) -> Term:
    """clip(r, 1 - clip_low, 1 + clip_high) A, whichever is smaller."""
    xp = array_namespace(log_ratio, advantages)
    ratio = xp.exp(log_ratio)
    inside = (ratio > 1.0 - clip_low) & (ratio < 1.0 + clip_high)
    bound = xp.clip(ratio, 1.0 - clip_low, 1.0 + clip_high) * advantages
    return Term(value=bound, slope=xp.where(inside, bound, 0.0))


def neighbours(recipe: Recipe) -> Iterator[tuple[str, dict[str, Any]]]:
    """Recipes one mistake away: what would have to hold, in words, and the parts that change."""
    for text, part in AGGREGATES.items():
        if part != recipe.aggregate:
            yield text, {"aggregate": part}
    for text, level in LEVELS.items():
        if level is not recipe.level:
            yield text, {"level": level}
    if recipe.kl_coef:
        yield "there is no KL penalty", {"kl_coef": 0.0}
        for text, part in PENALTIES.items():
            if part != recipe.penalty:
                yield text, {"penalty": part}
    if recipe.corrections:
        yield "the sampler's mismatch is not corrected", {"corrections": ()}
    low = recipe.surrogate.settings.get("clip_low", 0.2)
    high = recipe.surrogate.settings.get("clip_high", recipe.surrogate.settings.get("max_ratio", 1.2) - 1.0)
    told = [recipe.surrogate]
    for text, part in _surrogates(low, high).items():
        if part not in told:
            told.append(part)
            yield text, {"surrogate": part}


AGGREGATES: dict[str, Slot] = {
    "the denominator is the padded length": slot(fixed_length),
    "every token counts the same": slot(token_mean),
    "every completion counts the same, divided by its own length": slot(sequence_mean_token_mean),
    "every completion counts the same, and empty ones are not counted": slot(
        sequence_mean_token_mean, count_empty=False
    ),
    "tokens are summed in a completion and completions averaged": slot(sequence_mean_token_sum),
    "tokens are summed": slot(token_sum),
}
LEVELS = {
    "the ratio is that of a token": token_level,
    "the ratio is the geometric mean over the completion": sequence_mean_level,
    "the ratio is the product over the completion": sequence_sum_level,
}
PENALTIES = {
    "the penalty is k1": slot(k1),
    "the penalty is k2": slot(k2),
    "the penalty is k3": slot(k3),
    "the penalty is the absolute log-ratio": slot(absolute),
    "the penalty is k3 with policy and reference exchanged": slot(swapped_k3),
    "the penalty is k3 times the importance ratio": slot(weighted_k3),
}


def _surrogates(low: float, high: float) -> dict[str, Slot]:
    clips = {"clip_low": low, "clip_high": high}
    ranges = ((low, high), (0.2, 0.28), (0.2, 0.272), (0.2, 0.2))
    return {
        f"the clip is symmetric, of half-width {low:g}": slot(clipped, clip_low=low, clip_high=low),
        f"the clip is symmetric, of half-width {high:g}": slot(
            clipped, clip_low=min(high, 0.99), clip_high=high
        ),
        **{
            f"the clip is [1 - {lower:g}, 1 + {upper:g}]": slot(clipped, clip_low=lower, clip_high=upper)
            for lower, upper in ranges
        },
        "the half-widths of the clip are swapped": slot(clipped, clip_low=min(high, 0.99), clip_high=low),
        "the ratio is never clipped": slot(importance_weighted),
        "the ratio is always clipped, without the minimum": slot(clip_without_min, **clips),
        "the ratio is upside down": slot(inverted, **clips),
        "there is no ratio": slot(reinforce),
        "the dual clip is on, at 3": slot(dual_clipped, **clips, max_ratio=3.0),
        f"the ratio is detached and capped at {1 + high:g} (CISPO)": slot(cispo, max_ratio=1.0 + high),
        f"the ratio is detached and capped at {high:g} (CISPO)": slot(cispo, max_ratio=high),
        "the clipped ratio is detached": slot(gspo_token, **clips),
    }
