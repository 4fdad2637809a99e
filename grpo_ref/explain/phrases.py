"""Describe an objective in one sentence, to paste into a paper: the parts of a recipe in the field's terms."""

import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from string import Formatter
from typing import Any

from grpo_ref.recipes import Recipe, Slot

Kernel = Callable[..., Any]
Phrase = str | Callable[..., str]
"""Phrase for a kernel: a template, or a function of the settings that returns the phrase.

In a template, `{clip_low}` is a setting. `{mode:mask=0|clip=limited|...}` is the text for the setting's
value, or the last text if the value has none. `<, capped at {max_ratio}>` appears only if the setting is not
the default.
"""


def _future_kl(
    half_life: float, width: float | None, high_only: bool, max_ratio: float, safe_ratio: float
) -> str:
    """Describe the limits of FIPO's weights."""
    low, high = 1.0 if high_only else 1.0 - (width or 0.0), 1.0 + (width or 0.0)
    limits = {
        "half-life {half_life} tokens": True,
        f"between {low:g} and {high:g}": bool(width),
        "tokens with a ratio above {max_ratio} not counted": max_ratio < math.inf,
        "0.8 to 1 for negative advantages with a ratio above {safe_ratio}": safe_ratio < math.inf,
    }
    return f"FIPO's future-KL weights ({', '.join(text for text, is_on in limits.items() if is_on)})"


PHRASES: Mapping[str, Phrase] = {
    # surrogates
    "clipped": "PPO-clip {clip_low}/{clip_high}",
    "dual_clipped": "PPO-clip {clip_low}/{clip_high} with a dual clip at {max_ratio}",
    "two_sided_clipped": "PPO-clip {clip_low}/{clip_high} with every ratio capped at {max_ratio}",
    "geometric_mean_clipped": "GMPO (geometric mean of the ratios, each clipped per token in log space,"
    " {clip_low}/{clip_high})",
    "kl_cov": "KL-Cov (a penalty of {coef} on a share of {share} of the tokens)",
    "clip_cov": "PPO-clip {clip_low}/{clip_high} with Clip-Cov on a share of {share} of the tokens"
    "< of covariance {cov_low} to {cov_high}>",
    "cispo": "CISPO (detached weight {within})",
    "rollout_is": "REINFORCE weighted by the ratio to the sampler, 0 outside 1 - {clip_low} to 1 + {clip_high}"
    " (GLM-5)",
    "topr": "TOPR (bad completions weighted by the ratio, at most 1"
    "<, good ones times {positive_weight}><, bad ones times {negative_weight}>)",
    "real": "REAL (good completions of a group classified against bad ones, temperature {tau})",
    "gvpo": "GVPO (the log-ratios of a group fitted to its advantages, β {beta})",
    "gspo_token": "GSPO-token's clip, {clip_low}/{clip_high}",
    "vespo": "VESPO (k {k_positive}/{k_negative}, λ {lambda_positive}/{lambda_negative})",
    "dppo_tv": "DPPO's mask by total variation from the sampler, {low}/{high}<, ratios at most {max_ratio}>",
    "dppo_kl": "DPPO's mask by KL from the sampler, {low}/{high}<, ratios at most {max_ratio}>",
    "dppo_top_tv": "DPPO's mask by total variation of the top tokens from the sampler, {low}/{high}",
    "dppo_top_kl": "DPPO's mask by KL of the top tokens from the sampler, {low}/{high}",
    "reinforce": "REINFORCE, without a ratio",
    "importance_weighted": "the plain importance ratio, not clipped",
    "squared_ratio": "DRO's squared log-ratio with β {beta}",
    "sapo": "SAPO's soft gate (temperatures {tau_positive}/{tau_negative})",
    "gated_ratio": "the ratio times a soft gate (temperatures {tau_positive}/{tau_negative}),"
    " a textbook's SAPO",
    "symmetric_tv": "the ratio, 0 where a probability has moved by more than {delta} either way",
    "symmetric_kl": "the ratio, 0 where πθ log r is above {delta}",
    "top_movers": "the ratio, only on the {k} tokens of a completion whose probability moved most",
    "top_kl_movers": "the ratio, only on the {k} tokens of a completion with the largest πθ log r",
    # levels
    "token_level": "per token",
    "sequence_mean_level": "per sequence (length-normalised)",
    "sequence_sum_level": "per sequence (whole product)",
    # advantages
    "raw_rewards": "rewards taken as advantages, without a baseline",
    "greedy_baseline": "the reward of a greedy completion as the baseline (ReMax)",
    "group_centered": "advantages centred within groups{group}, not divided by a std",
    "group_normalized": "advantages standardised within groups{group} (ddof {ddof}, ε {eps})",
    "leave_one_out": "a leave-one-out baseline within groups{group} (RLOO)",
    "mean_scaled": "advantages centred within groups{group} and divided by the group's mean (MaxRL)",
    "length_weighted": "the length-weighted baseline of OPO within groups{group}",
    "ranked": "ranks within groups{group} as advantages (GOPO)",
    "normal_scores": "normal scores of the ranks within groups{group} as advantages",
    "best_of_group": "pass@k advantages: only the best of each group{group} counts"
    "{scale:False=, not divided by a std}",
    "batch_scaled": "advantages centred within groups{group} and divided by the std of the batch",
    "batch_normalized": "advantages standardised over the whole batch< (ddof {ddof})>",
    "gpg": "advantages centred within groups{group}, scaled up by the share of groups with contrast (GPG)",
    "normalized_then_summed": "each reward standardised within groups{group}, then summed (GDPO)",
    "normalized_then_whitened": "each reward standardised within groups{group}, summed,"
    " whitened over the batch (GDPO)",
    "whitened": "advantages whitened over all tokens of the batch",
    "normalized_twice": "advantages standardised within groups{group} and again over all tokens of the batch",
    "optimal_token_baseline": "the optimal token baseline within groups{group}"
    "{skip_holes:True=, positions counted without the tools' tokens}",
    "discounted": "token returns discounted by {gamma} and whitened over the batch (REINFORCE++)",
    "step_suffix_sums": "process rewards standardised and summed over the steps to come",
    "gigpo": "advantages of episodes{scale:False=, centred|, standardised} within groups{group}, plus {step_weight}"
    " times those of turns from the same state, discounted by {gamma} per turn (GiGPO)",
    "gigpo_over_turns": "advantages of episodes{scale:False=, centred|, standardised} over the turns of a group,"
    " plus {step_weight} times those of turns from the same state, discounted by {gamma} per turn (GiGPO)",
    "turn_returns": "returns of turns, discounted by {gamma}, {scale:False=centred|standardised} over all turns of"
    " {across_prompts:True=the batch|a group}",
    "mt_grpo": "advantages of the outcome and of each turn's own reward, standardised within groups{group} (MT-GRPO)",
    # teachers
    "with_teacher": "{reward_coef:0.0=advantages from a teacher alone, |plus }{coef} (log πteacher -"
    " log π{student:old=old|rollout=rollout|current=θ}) per token<, summed over the tokens to come with discount {discount}>"
    "<, the log-ratio limited to ±{max_log_ratio}>",
    # aggregations
    "token_sum": "summed over tokens",
    "token_mean": "mean over all tokens",
    "group_token_mean": "mean over the tokens of each group, then mean over groups",
    "kept_token_mean": "mean over the tokens that the correction keeps",
    "token_sum_over": "token sum divided by {tokens} tokens",
    "sequence_mean_token_mean": "token mean within each completion, then mean over completions",
    "sequence_mean_token_sum": "token sum within each completion, then mean over completions",
    "fixed_length": "token sum divided by a constant length{budget}, mean over completions",
    # penalties
    "k1": "k1",
    "k2": "k2",
    "mse": "k2",
    "k3": "k3",
    "straight_through": "the value of {estimator} with the gradient of k2",
    "absolute": "|log-ratio|",
    "weighted_k1": "importance-weighted k1",
    "weighted_k3": "importance-weighted k3",
    "to_teacher": "{estimator} to a teacher",
    # corrections
    "truncated": "{max_ratio:inf=|truncated }importance weights against the sampler {level}, {within}"
    "{batch_normalize:True=, divided by their mean over the batch}",
    "masked": "importance weights against the sampler {level}, 0 {outside}"
    "{batch_normalize:True=, divided by their mean over the batch}",
    "indicator": "only where the ratio to the sampler {level} is {within}",
    "off_policy_mask": "completions of negative advantage dropped beyond {threshold} nats per token"
    " from the sampler",
    "off_policy_mask_since_update": "completions of negative advantage dropped beyond {threshold} nats per token"
    " from the old policy",
    "without_outliers": "completions dropped that have a token with a ratio to the sampler {outside}",
    "rejection": "only {over:token=tokens|completions} whose {estimator} to the sampler"
    "{over:token=| ({over} over the tokens)} is from {low} to {high}",
    "second_moment_mask": "M2PO's mask, the mean squared log-ratio to the sampler below {threshold}",
    "prefix_ratio": "importance weights against the sampler, for each token"
    " {minimum:True=its ratio times the smallest one before it|the product up to it}"
    "<, at most {max_ratio}>",
    "future_kl": _future_kl,
    "top_entropy": "only the top {share} of the tokens by entropy",
    "unlikely_under_reference": "tokens weighted by 1 - πref, less where the reference finds them likely",
    "early_stop": "no update above a mean ratio of {max_ratio}",
    # rewards and filters
    "soft_overlong": "a soft overlong penalty over the last {buffer} of the budget{budget}, weight {weight}",
    "mixed_groups": "groups with equal rewards dropped or sampled again (dynamic sampling)",
    "pass_rate_between": "only groups with a pass rate between {low} and {high}",
    "ended_completions": "truncated completions masked out",
    "first_of_equals": "equal completions counted once",
}
"""Phrases by kernel.

`group` and `budget` are sizes, if they are known; `within` and `outside` are the bounds of a ratio.
"""
NEVER_REACHED = 20.0
"""Limits of a log-ratio, in nats, from which on no sentence mentions them."""
SILENT = ("task_reward", "all_groups", "all_completions", "no_penalty")
"""Parts that do nothing."""


_OPTIONAL = re.compile("<([^<>]*)>")


def paragraph(
    recipe: Recipe,
    *,
    group_size: int | str | None = None,
    budget: int | str | None = None,
    entropy_coef: float = 0.0,
    unknown: Mapping[str, str] | None = None,
    words: Mapping[Kernel, Phrase] | None = None,
) -> str:
    """Return the recipe as a sentence.

    Args:
      recipe: the objective.
      group_size: completions per prompt; text if it is unknown.
      budget: the length in tokens that a constant denominator divides by; text if it is unknown.
      entropy_coef: weight of the entropy bonus.
      unknown: for each unknown part of the recipe, the key that it depends on, "beta = $BETA".
      words: phrases for the trainer's own kernels.

    >>> from grpo_ref import DAPO
    >>> print(paragraph(DAPO, group_size=16))
    PPO-clip 0.2/0.28 per token; advantages standardised within groups of 16 (ddof 1, ε 0.0001); mean over all tokens; no KL penalty; a soft overlong penalty over the last 0.2 of the budget, weight 0.5; groups with equal rewards dropped or sampled again (dynamic sampling).
    """
    said = sentences(
        recipe,
        group_size=group_size,
        budget=budget,
        entropy_coef=entropy_coef,
        unknown=unknown or {},
        words=words or {},
    )
    return joined(said.values())


def joined(said: Iterable[str]) -> str:
    """Join the phrases of parts into one sentence. Empty phrases are skipped."""
    return "; ".join(filter(None, said)) + "."


def sentences(
    recipe: Recipe,
    *,
    group_size: int | str | None,
    budget: int | str | None,
    entropy_coef: float,
    unknown: Mapping[str, str],
    words: Mapping[Kernel, Phrase],
) -> dict[str, str]:
    """Return one phrase for each part of a recipe, in order. The arguments are those of `paragraph`."""
    sizes = {
        "group": "" if group_size is None else f" of {group_size}",
        "budget": "" if budget is None else f" of {budget} tokens",
    }

    def told(part: Any) -> str:
        return _told(part, sizes, words)

    objective = {
        "surrogate": _at_level(told(recipe.surrogate), told(recipe.level))
        if _has_ratio(recipe)
        else told(recipe.surrogate),
        "log_ratio_limits": "; ".join(_limits(recipe)),
        "corrections": "; ".join(told(part) for part in recipe.corrections),
        "advantage": told(recipe.advantage) if _counts_rewards(recipe) else "",
        "distill": told(recipe.distill) if recipe.distill else "",
        "aggregate": told(recipe.aggregate),
    }
    said = {
        **objective,
        "kl_coef": _penalty(recipe, told, elsewhere=any("KL" in each for each in objective.values())),
        "bonus": f"entropy bonus {_number(entropy_coef)}" if entropy_coef else "",
        **{name: told(getattr(recipe, name)) for name in ("reward", "keep", "admit")},
        ADDITION: "",
    }
    for name, sentence in _not_known(said, unknown):
        said[name] = sentence
    return said


def _not_known(order: Iterable[str], unknown: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the phrases for unknown parts.

    Parts that are unknown for the same reason share one phrase, at the place of the first.
    """
    reasons = {SPOKEN_WITH.get(part, part): why for part, why in unknown.items()}
    for why in dict.fromkeys(reasons.values()):
        first, *others = (name for name in order if reasons.get(name) == why)
        *names, last = (NAMED[name] for name in (first, *others))
        yield first, f"{', '.join(names)}{' and ' * bool(names)}{last} not known ({why})"
        yield from ((name, "") for name in others)


ADDITION = "addition"
"""A loss beside that of the policy, such as one on other data. No recipe has it."""
SPOKEN_WITH = {"level": "surrogate", "penalty": "kl_coef", "penalty_aggregate": "kl_coef"}
"""Parts without a phrase of their own, each with the part whose phrase covers it."""
NAMED = {
    **{"surrogate": "surrogate", "log_ratio_limits": "limits of the log-ratio", "corrections": "corrections"},
    **{"advantage": "advantages", "aggregate": "average", "kl_coef": "KL penalty", "bonus": "entropy bonus"},
    "distill": "distillation from a teacher",
    ADDITION: "added loss",
    **{"reward": "shaping of the reward", "keep": "filter of groups", "admit": "filter of completions"},
}
"""Name of each part in a phrase that says only that the part is unknown."""


def _at_level(surrogate: str, level: str) -> str:
    """Add the level of its ratio to a surrogate's phrase, after a comma if the phrase is long."""
    if " per " in surrogate:
        return surrogate
    return f"{surrogate}{',' if ' with ' in surrogate or ',' in surrogate else ''} {level}"


def _has_ratio(recipe: Recipe) -> bool:
    """Return true if the surrogate reads the ratio, so that the level matters."""
    return "log_ratio" in recipe.surrogate.reads


def _counts_rewards(recipe: Recipe) -> bool:
    """Return false if the advantages come from a teacher alone."""
    return recipe.distill is None or recipe.distill.settings.get("reward_coef") != 0.0


def _limits(recipe: Recipe) -> list[str]:
    """Describe the limits of the log-ratio that a token may reach."""
    low, high = recipe.log_ratio_limits
    if min(-low, high) >= NEVER_REACHED:
        return []
    return [f"the log-ratio limited to [{_number(low)}, {_number(high)}] nats"]


def _penalty(recipe: Recipe, told: Callable[[Any], str], *, elsewhere: bool) -> str:
    """Describe the penalty in the loss, or its absence there. It may be in the reward instead."""
    if not recipe.kl_coef:
        return "no KL to a reference in the loss" if elsewhere else "no KL penalty"
    average = f", {told(recipe.penalty_aggregate)}" if recipe.penalty_aggregate else ""
    return f"KL penalty {_number(recipe.kl_coef)} ({told(recipe.penalty)}{average})"


def _told(part: Any, sizes: Mapping[str, str], words: Mapping[Kernel, Phrase]) -> str:
    """Describe a part in its phrase."""
    kernel = part.kernel if isinstance(part, Slot) else part
    if kernel.__name__ in SILENT:
        return ""
    template = words.get(kernel) or PHRASES.get(kernel.__name__)
    if template is None:
        return _by_name(part)
    defaults = _defaults(kernel)
    settings = {**defaults, **(part.settings if isinstance(part, Slot) else {})}
    text = template if isinstance(template, str) else template(**settings)
    changed = {name for name, value in settings.items() if value != defaults[name]}
    shown = {name: _Setting(value, sizes, words) for name, value in settings.items()}
    return _OPTIONAL.sub(lambda found: found[1] * bool(_fields(found[1]) & changed), text).format_map(
        {**sizes, **_bounds(**settings), **shown}
    )


def _bounds(min_ratio: float | None = 0.0, max_ratio: float | None = math.inf, **_: Any) -> dict[str, str]:
    """Describe the bounds of a ratio, and the region outside. 0 and infinity are not bounds."""
    low, high = min_ratio or -math.inf, math.inf if max_ratio is None else max_ratio
    above, below = f"above {_number(high)}", f"below {_number(low)}"
    outside = above if low == -math.inf else below if high == math.inf else f"{below} or {above}"
    return {"within": _within(low, high), "outside": outside}


def _within(low: float, high: float) -> str:
    if low == -math.inf:
        return "not limited" if high == math.inf else f"at most {_number(high)}"
    return f"at least {_number(low)}" if high == math.inf else f"between {_number(low)} and {_number(high)}"


def _by_name(part: Any) -> str:
    """Describe a part that has no phrase by its name and settings."""
    return str(part if isinstance(part, Slot) else part.__name__).replace("_", " ")


def _fields(text: str) -> set[str]:
    """Return the settings that a part of a template has in braces."""
    return {re.split(r"[.\[]", name)[0] for _, name, _, _ in Formatter().parse(text) if name}


class _Setting:
    """A setting in a template: its value, or the text that the template has for the value."""

    def __init__(self, value: Any, sizes: Mapping[str, str], words: Mapping[Kernel, Phrase]) -> None:
        self.value, self.sizes, self.words = value, sizes, words

    def __getitem__(self, place: int) -> "_Setting":
        return _Setting(self.value[place], self.sizes, self.words)

    def __format__(self, choices: str) -> str:
        if not choices:
            return self._shown(self.value)
        for choice in choices.split("|"):
            value, is_given, text = choice.partition("=")
            if not is_given:
                return choice
            if value == str(self.value):
                return text
        return ""

    def _shown(self, value: Any) -> str:
        if isinstance(value, Slot) or callable(value):
            return _told(value, self.sizes, self.words)
        if isinstance(value, tuple):
            return self._row(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return _number(value)
        return str(value).replace("_", " ")

    def _row(self, values: tuple[Any, ...]) -> str:
        """Write numbers as [a, b], a name with bounds as "name between a and b", other tuples item by item."""
        shown = [self._shown(value) for value in values]
        if all(isinstance(value, (int, float)) for value in values):
            return f"[{', '.join(shown)}]"
        if isinstance(values[0], str):
            return f"{shown[0]} {_within(*values[1:])}"
        return (" and " if isinstance(values[0], Slot) else ", ").join(shown)


def _defaults(kernel: Kernel) -> dict[str, Any]:
    parameters = inspect.signature(kernel).parameters.values()
    return {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}


def _number(value: float) -> str:
    """Write a number in short form: 0.2, 1e-06, 20480, ∞."""
    if math.isinf(value):
        return "∞" if value > 0.0 else "-∞"
    return f"{value:.0f}" if value == round(value) else f"{value:g}"
