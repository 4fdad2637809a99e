"""List the recipes that differ from a given recipe by one common mistake."""

import math
from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any, NamedTuple

from grpo_ref.aggregation import (
    fixed_length,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
    token_sum,
)
from grpo_ref.check.mistakes.kernels import (
    advantage_in_one_product,
    batch_mean_level,
    clip_around_zero,
    clip_of_log_ratio,
    clip_of_product,
    clip_without_min,
    clipped_log_ratio,
    clipped_quotient,
    constant_ratio,
    correction_of_policy,
    detached_penalty,
    detached_surrogate,
    divided_again,
    exchanged_bounds,
    floored,
    in_micro_batches,
    in_packed_rows,
    incomplete_k3,
    inverted,
    inverted_correction,
    longest_mean,
    max_of_ratios,
    mean_ratio_level,
    min_of_means,
    min_of_ratios,
    old_penalty,
    optimistic,
    padded_mean,
    padded_mean_level,
    penalized_advantages,
    position_mean,
    positive_k1,
    probability_weighted,
    probability_weighted_k1,
    ratio_minus_one,
    reversed_k1,
    slope_inside_only,
    squared_log_ratio,
    summed_completions,
    swapped_k3,
)
from grpo_ref.corrections import masked, truncated
from grpo_ref.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.penalties import absolute, k1, k2, k3, weighted_k3
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.surrogates import (
    cispo,
    clipped,
    dual_clipped,
    gspo_token,
    importance_weighted,
    reinforce,
    two_sided_clipped,
)


class Mistake(NamedTuple):
    """A common mistake in a recipe.

    Attributes:
      condition: description of the mistake, worded to follow "likely mistake:".
      parts: fields of the recipe that change, with their wrong values.
    """

    condition: str
    parts: dict[str, Any]


def mistakes(recipe: Recipe) -> Iterator[Mistake]:
    """Generate all known mistakes that change a recipe: weights, level, penalty, corrections, surrogate."""
    yield from _other_parts("aggregate", AGGREGATES, recipe.aggregate)
    yield from _wrong_averages(recipe.aggregate)
    yield from _other_parts("level", LEVELS, recipe.level)
    if recipe.kl_coef:
        yield from _penalty_mistakes(recipe)
    for text, part in AGGREGATES.items() if recipe.kl_coef and recipe.penalty_aggregate is None else ():
        if part != recipe.aggregate:
            yield Mistake(
                f"in the surrogate, not in the KL penalty, {text}",
                {"aggregate": part, "penalty_aggregate": recipe.aggregate},
            )
    if recipe.kl_coef:
        subtracted = "the KL penalty is subtracted from the advantages, not added to the loss"
        for text, part in {"": recipe.penalty, **PENALTIES}.items():
            if part == recipe.penalty and text:
                continue
            penalized = slot(
                penalized_advantages, part=recipe.surrogate, penalty=part, kl_coef=recipe.kl_coef
            )
            condition = f"{subtracted} and {text}" if text else subtracted
            yield Mistake(condition, {"surrogate": penalized, "kl_coef": 0.0})
    if recipe.corrections:
        yield Mistake("the sampler's mismatch is not corrected", {"corrections": ()})
        yield from _correction_mistakes(recipe)
    if recipe.log_ratio_limits != NO_LIMITS:
        yield Mistake("the log-ratio is not limited", {"log_ratio_limits": NO_LIMITS})
    yield from _surrogate_mistakes(recipe.surrogate)


def _other_parts(field: str, parts: Mapping[str, Any], right: Any) -> Iterator[Mistake]:
    """Generate the mistakes that put another known part into one field of the recipe."""
    return (Mistake(text, {field: part}) for text, part in parts.items() if part != right)


def _wrong_averages(right: Slot) -> Iterator[Mistake]:
    """Generate averages of micro-batches, and averages that are divided once more."""
    if right.kernel is not token_mean:
        yield Mistake(
            "the loss is normalized twice: by the length of each completion and the tokens of the batch",
            {"aggregate": slot(divided_again, part=slot(token_mean), by="length")},
        )
    if right.kernel in (sequence_mean_token_sum, fixed_length):
        yield Mistake(
            "empty completions are not counted",
            {"aggregate": Slot(right.kernel, {**right.settings, "count_empty": False})},
        )
    if right.kernel in (token_mean, sequence_mean_token_mean):
        for eps in DENOMINATOR_EPS:
            part = Slot(right.kernel, {**right.settings, "eps": eps})
            yield Mistake(f"{eps:g} is added to the number of tokens in the denominator", {"aggregate": part})
    if "correction" in right.reads:  # such an average also reads the importance weights of the whole batch
        return
    for size in MICRO_BATCHES:
        part = slot(in_micro_batches, part=right, size=size)
        yield Mistake(
            f"each micro-batch of {size} is averaged by itself, and the mean of these is taken",
            {"aggregate": part},
        )
    for number in NUMBERS:
        part = slot(in_micro_batches, part=right, number=number)
        yield Mistake(
            f"each of {number} micro-batches is averaged by itself, and the mean of these is taken",
            {"aggregate": part},
        )
    yield Mistake(
        "completions are summed, not averaged",
        {"aggregate": slot(summed_completions, part=right)},
    )
    if right.kernel is not token_mean:
        for size in (0, *MICRO_BATCHES[1:]):
            row = f"{size} completions in each row" if size else "all completions in one row"
            yield Mistake(
                f"the completions are packed, {row}, and a row is taken for a completion",
                {"aggregate": slot(in_packed_rows, part=right, size=size)},
            )
    for by, text in DIVISORS.items():
        yield Mistake(
            f"the loss is normalized twice: once more by {text}",
            {"aggregate": slot(divided_again, part=right, by=by)},
        )


def _correction_mistakes(recipe: Recipe) -> Iterator[Mistake]:
    """Generate mistakes of a single correction: another limit, or the ratio upside down."""
    if len(recipe.corrections) != 1:
        return
    (right,) = recipe.corrections
    for name, value in _settings(right).items():
        if type(value) not in (int, float):
            continue
        for limit in LIMITS:
            if limit != value:
                other = Slot(right.kernel, {**right.settings, name: limit})
                limited = f"is {limit:g}" if math.isfinite(limit) else "is missing"
                yield Mistake(
                    f"in the correction of the sampler, {name} {limited}", {"corrections": (other,)}
                )
    if right.kernel in (truncated, masked):
        levels = {
            "each token": token_level,
            "each completion, a product": sequence_sum_level,
            "each completion, a geometric mean": sequence_mean_level,
        }
        others = {
            "the correction cuts large weights off": Slot(truncated, right.settings),
            "the correction sets large weights to 0": Slot(masked, right.settings),
            "the correction compares the policy, not the old policy, with the sampler": slot(
                correction_of_policy, part=right
            ),
        } | {
            f"the weight of the correction is that of {text}": Slot(
                right.kernel, {**right.settings, "level": level}
            )
            for text, level in levels.items()
        }
        for text, part in others.items():
            if Slot(part.kernel, _settings(part)) != Slot(right.kernel, _settings(right)):
                yield Mistake(text, {"corrections": (part,)})
    if {"old_log_probs", "rollout_log_probs"} <= set(right.reads):
        yield Mistake(
            "the ratio of the correction is inverted",
            {"corrections": (slot(inverted_correction, part=right),)},
        )


def _penalty_mistakes(recipe: Recipe) -> Iterator[Mistake]:
    """Generate mistakes of the KL penalty: missing, wrong sign, estimate, gradient or average."""
    yield Mistake("there is no KL penalty", {"kl_coef": 0.0})
    yield Mistake("the KL penalty has the wrong sign", {"kl_coef": -recipe.kl_coef})
    yield from _other_parts("penalty", PENALTIES, recipe.penalty)
    yield Mistake(
        "the KL penalty is of the old policy: it has no gradient",
        {"penalty": slot(old_penalty, part=recipe.penalty)},
    )
    yield Mistake(
        "the KL penalty is detached: it has no gradient",
        {"penalty": slot(detached_penalty, part=recipe.penalty)},
    )
    for text, part in AGGREGATES.items():
        if part not in (recipe.aggregate, recipe.penalty_aggregate):
            yield Mistake(f"in the KL penalty, {text}", {"penalty_aggregate": part})


def _surrogate_mistakes(right: Slot) -> Iterator[Mistake]:
    """Generate the other surrogates, each once even if its half-widths coincide with those of another."""
    settings = _settings(right)
    low = settings.get("clip_low", 0.2)
    high = settings.get("clip_high", settings.get("max_ratio", 1.2) - 1.0)
    seen = [right]
    for text, part in {**_clips(right, low, high), **_surrogates(right, low, high)}.items():
        if part not in seen:
            seen.append(part)
            yield Mistake(text, {"surrogate": part})


def _settings(part: Slot) -> dict[str, Any]:
    """Return all settings of a part, defaults included."""
    parameters = signature(part.kernel).parameters.values()
    defaults = {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}
    return defaults | part.settings


AGGREGATES: dict[str, Slot] = {
    "the denominator is the padded length": slot(padded_mean),
    "the denominator is the length of the longest completion": slot(longest_mean),
    "every token counts the same": slot(token_mean),
    "every completion counts the same, divided by its own length": slot(sequence_mean_token_mean),
    "every completion counts the same, and empty completions are not counted": slot(
        sequence_mean_token_mean, count_empty=False
    ),
    "tokens are summed within each completion, and completions are averaged": slot(sequence_mean_token_sum),
    "tokens are summed": slot(token_sum),
    "the mean is over the completions at each position first, then over the positions": slot(position_mean),
}
MICRO_BATCHES = (1, 2, 3, 4, 5, 6, 8, 9, 12)
NUMBERS = (2, 3, 4, 6)
DIVISORS = {
    "length": "the length of the completion",
    "tokens": "the tokens of the batch",
    "completions": "the number of completions",
    "padded": "the padded length",
}
DENOMINATOR_EPS = (1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5)
LIMITS = (0.5, 1.0, 1.05, 1.1, 1.2, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0, 20.0, math.inf)
"""Limits of a correction that are tried."""
NEARLY_1 = 1.0 - 1e-12
"""A half-width below which no ratio is clipped."""
NO_LIMITS = (-math.inf, math.inf)
LEVELS = {
    "the ratio is that of each token": token_level,
    "the ratio is the geometric mean over the completion": sequence_mean_level,
    "the ratio is the product over the completion": sequence_sum_level,
    "the log-ratio is averaged over the padded length": padded_mean_level,
    "the ratio is the mean of the token ratios of the completion": mean_ratio_level,
    "the ratio is the geometric mean over all completions, packed into one row": batch_mean_level,
}
PENALTIES = {
    "the penalty is k1": slot(k1),
    "the penalty is k2": slot(k2),
    "the penalty is k3": slot(k3),
    "the penalty is the absolute log-ratio": slot(absolute),
    "the penalty is k3 with policy and reference exchanged": slot(swapped_k3),
    "the penalty is k3 times the importance ratio": slot(weighted_k3),
    "the penalty is the squared log-ratio, without the half of k2": slot(squared_log_ratio),
    "the penalty is k1 where it is positive, and 0 elsewhere": slot(positive_k1),
    "the penalty is k1 with policy and reference exchanged": slot(reversed_k1),
    "the penalty is k3 without the -1": slot(incomplete_k3, constant=0.0),
    "the penalty is k3 without the log-ratio": slot(incomplete_k3, linear=0.0),
    "the penalty is k3 with the wrong sign of the log-ratio": slot(incomplete_k3, linear=1.0),
    "the penalty is k1 times the probability": slot(probability_weighted_k1),
    "the penalty is exchanged k1 times the reference's probability": slot(
        probability_weighted_k1, by_reference=True
    ),
}


def _clips(right: Slot, low: float, high: float) -> dict[str, Slot]:
    """Return the recipe's own surrogate with other half-widths, if it has half-widths."""
    if not {"clip_low", "clip_high"} <= _settings(right).keys():
        return {}
    ranges = ((low, high), (0.2, 0.28), (0.2, 0.272), (0.2, 0.2))
    widths = {
        f"the clip is symmetric, of half-width {low:g}": (low, low),
        f"the clip is symmetric, of half-width {high:g}": (min(high, 0.99), high),
        **{f"the clip is [1 - {lower:g}, 1 + {upper:g}]": (lower, upper) for lower, upper in ranges},
        "the half-widths of the clip are swapped": (min(high, 0.99), low),
    }
    return {
        text: Slot(right.kernel, {**right.settings, "clip_low": lower, "clip_high": upper})
        for text, (lower, upper) in widths.items()
    }


def _surrogates(right: Slot, low: float, high: float) -> dict[str, Slot]:
    """Return the surrogates that are written in place of one another, with these half-widths of the clip."""
    clips = {"clip_low": low, "clip_high": high}
    dual = right.kernel in (dual_clipped, two_sided_clipped)
    without_dual = {"the dual clip is missing": slot(clipped, **clips)} if dual else {}
    wrong = _wrong_clips(clips)
    if dual:
        ratio = _settings(right)["max_ratio"]
        wrong = {text: slot(floored, part=part, max_ratio=ratio) for text, part in wrong.items()} | {
            f"{text}, and the dual clip is missing": part for text, part in wrong.items()
        }
    return {
        **without_dual,
        **wrong,
        "the ratio is never clipped": slot(importance_weighted),
        "there is no ratio": slot(reinforce),
        "the probability replaces the ratio": slot(probability_weighted),
        "the ratio is that of the log-probabilities, without exponentials": slot(clipped_quotient, **clips),
        "the ratio has no upper clip": slot(clipped, clip_low=low, clip_high=math.inf),
        "the ratio has no lower clip": slot(clipped, clip_low=NEARLY_1, clip_high=high),
        f"the lower bound of the clip is 1 / (1 + {high:g})": slot(
            clipped, clip_low=1.0 - 1.0 / (1.0 + high), clip_high=high
        ),
        "the ratio is detached, and is not capped": slot(cispo, max_ratio=math.inf),
        "the ratio is identically 1, without a gradient: a detach is missing": slot(constant_ratio),
        "the surrogate is detached: no gradient flows through the ratio": slot(
            detached_surrogate, part=right
        ),
        "the clip is the plain one of PPO": slot(clipped, **clips),
        "the dual clip is on, at 3": slot(dual_clipped, **clips, max_ratio=3.0),
        f"the ratio is detached and capped at {1 + high:g} (CISPO)": slot(cispo, max_ratio=1.0 + high),
        f"the ratio is detached and capped at {high:g} (CISPO)": slot(cispo, max_ratio=high),
        "the clipped ratio is detached": slot(gspo_token, **clips),
    }


USUAL_CLIPS = ((0.2, 0.2), (0.2, 0.28), (0.1, 0.1), (0.3, 0.3))
"""Half-widths that are used with a wrong surrogate."""


def two_in_one_part(recipe: Recipe) -> Iterator[Mistake]:
    """Generate two mistakes in one part: micro-batches of a wrong average, wrong clips of another width."""
    if "correction" not in recipe.aggregate.reads:
        for text, part in AGGREGATES.items():
            if part == recipe.aggregate:
                continue
            for size in MICRO_BATCHES:
                wrong = slot(in_micro_batches, part=part, size=size)
                yield Mistake(
                    f"each micro-batch of {size} is averaged by itself and {text}", {"aggregate": wrong}
                )
            summed = slot(summed_completions, part=part)
            yield Mistake(f"{text} and completions are summed, not averaged", {"aggregate": summed})
    settings = _settings(recipe.surrogate)
    for low, high in USUAL_CLIPS if recipe.surrogate.kernel is cispo else ():
        yield Mistake(
            f"the detached ratio is clipped to [{1 - low:g}, {1 + high:g}]",
            {"surrogate": slot(cispo, min_ratio=1.0 - low, max_ratio=1.0 + high)},
        )
    if recipe.surrogate.kernel is not clipped:
        return
    right = (settings["clip_low"], settings["clip_high"])
    for low, high in dict.fromkeys((*USUAL_CLIPS, (right[0], right[0]), (min(right[1], 0.99), right[1]))):
        if (low, high) == right:
            continue
        for text, part in _wrong_clips({"clip_low": low, "clip_high": high}).items():
            yield Mistake(f"the clip is [1 - {low:g}, 1 + {high:g}] and {text}", {"surrogate": part})


def _wrong_clips(clips: Mapping[str, float]) -> dict[str, Slot]:
    """Return wrong clips, by the condition that describes the mistake."""
    low, high = f"{clips['clip_low']:g}", f"{clips['clip_high']:g}"
    bare = {"exp_free": False, "exp_bound": False}
    return {
        "the ratio is always clipped, without the minimum": slot(clip_without_min, **clips),
        "the larger of the two products is taken (max for min)": slot(optimistic, **clips),
        "the ratio is inverted": slot(inverted, **clips),
        "the minimum is taken of the ratios, before the advantage multiplies them": slot(
            min_of_ratios, **clips
        ),
        "the maximum is taken of the ratios, before the advantage multiplies them": slot(
            max_of_ratios, **clips
        ),
        "the minimum is taken of the means of each completion, not of each token": slot(
            min_of_means, **clips
        ),
        "the minimum is taken of the means of the batch, not of each token": slot(
            min_of_means, **clips, over_batch=True
        ),
        "the bounds of the clip are exchanged: every clipped ratio is the lower bound": slot(
            exchanged_bounds, **clips
        ),
        f"the clip is on the log-ratio, to [-{low}, {high}], without the minimum": slot(
            clipped_log_ratio, **clips
        ),
        "1 is subtracted from the ratio": slot(ratio_minus_one, **clips),
        "the gradient is 0 wherever the ratio is outside the clip": slot(slope_inside_only, **clips),
        "the clip is on the product of ratio and advantage": slot(clip_of_product, **clips),
        "the advantage does not multiply the clipped ratio": slot(advantage_in_one_product, **clips),
        "the advantage does not multiply the unclipped ratio": slot(
            advantage_in_one_product, **clips, in_free=False
        ),
        f"the bounds of the clip are -{low} and {high}, without the 1": slot(clip_around_zero, **clips),
        f"the clip is on the log-ratio, to [-{low}, {high}], before the exponential": slot(
            clip_of_log_ratio, **clips
        ),
        f"the clip is on the log-ratio, to [-{low}, {high}], and replaces the clipped ratio": slot(
            clip_of_log_ratio, **clips, exp_bound=False
        ),
        f"the clip is on the log-ratio, to [1 - {low}, 1 + {high}], before the exponential": slot(
            clip_of_log_ratio, **clips, center=1.0
        ),
        f"the clip is on the log-ratio, to [1 - {low}, 1 + {high}], and replaces the clipped ratio": slot(
            clip_of_log_ratio, **clips, center=1.0, exp_bound=False
        ),
        f"the log-ratio replaces the ratio, and is clipped to [-{low}, {high}]": slot(
            clip_of_log_ratio, **clips, **bare
        ),
        f"the log-ratio replaces the ratio, and is clipped to [1 - {low}, 1 + {high}]": slot(
            clip_of_log_ratio, **clips, **bare, center=1.0
        ),
    }
