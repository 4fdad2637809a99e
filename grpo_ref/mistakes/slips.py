"""Recipes one slip away from a given one: what people write when they mean it."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

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
from grpo_ref.mistakes.kernels import clip_without_min, inverted, swapped_k3
from grpo_ref.recipes import Recipe, Slot, slot


class Slip(NamedTuple):
    """One slip.

    Attributes:
      condition: what would have to hold, in words, as in "your loss matches if ...".
      parts: the fields of the recipe that change.
    """

    condition: str
    parts: dict[str, Any]


def slips(recipe: Recipe) -> Iterator[Slip]:
    """Every slip that changes something about a recipe: weights, level, penalty, corrections, surrogate."""
    yield from _others("aggregate", AGGREGATES, recipe.aggregate)
    yield from _others("level", LEVELS, recipe.level)
    if recipe.kl_coef:
        yield Slip("there is no KL penalty", {"kl_coef": 0.0})
        yield from _others("penalty", PENALTIES, recipe.penalty)
    if recipe.corrections:
        yield Slip("the sampler's mismatch is not corrected", {"corrections": ()})
    yield from _surrogate_slips(recipe.surrogate)


def _others(field: str, parts: Mapping[str, Any], right: Any) -> Iterator[Slip]:
    """The parts that one field of the recipe could have been mistaken for."""
    return (Slip(text, {field: part}) for text, part in parts.items() if part != right)


def _surrogate_slips(right: Slot) -> Iterator[Slip]:
    """The other surrogates; of those that are equal at these half-widths only the first."""
    low = right.settings.get("clip_low", 0.2)
    high = right.settings.get("clip_high", right.settings.get("max_ratio", 1.2) - 1.0)
    told = [right]
    for text, part in _surrogates(low, high).items():
        if part not in told:
            told.append(part)
            yield Slip(text, {"surrogate": part})


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
    """The surrogates that are written for one another, with these half-widths of the clip."""
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
