"""An objective in one paragraph, to paste into a paper: the parts of a recipe in the words of the field."""

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

from grpo_ref.recipes import Recipe, Slot

Kernel = Callable[..., Any]
WORDS: Mapping[str, str] = {
    # surrogates
    "clipped": "PPO-clip {clip_low}/{clip_high}",
    "dual_clipped": "PPO-clip {clip_low}/{clip_high} with a dual clip at {max_ratio}",
    "two_sided_clipped": "PPO-clip {clip_low}/{clip_high} with every ratio capped at {max_ratio}",
    "geometric_mean_clipped": "GMPO's clip in log space, {clip_low}/{clip_high}",
    "kl_cov": "KL-Cov (a penalty of {coef} on a share of {share} of the tokens)",
    "clip_cov": "PPO-clip {clip_low}/{clip_high} with Clip-Cov on a share of {share} of the tokens",
    "cispo": "CISPO (a detached weight between {min_ratio} and {max_ratio})",
    "gspo_token": "GSPO-token's clip, {clip_low}/{clip_high}",
    "vespo": "VESPO (k {k_positive}/{k_negative}, λ {lambda_positive}/{lambda_negative})",
    "dppo_tv": "DPPO's mask by total variation, {low}/{high}",
    "dppo_kl": "DPPO's mask by KL, {low}/{high}",
    "dppo_top_tv": "DPPO's mask by total variation of the top tokens, {low}/{high}",
    "dppo_top_kl": "DPPO's mask by KL of the top tokens, {low}/{high}",
    "reinforce": "REINFORCE, without a ratio",
    "importance_weighted": "the plain importance ratio, not clipped",
    "squared_ratio": "DRO's squared log-ratio with β {beta}",
    "sapo": "SAPO's soft gate (temperatures {tau_positive}/{tau_negative})",
    # levels
    "token_level": "per token",
    "sequence_mean_level": "per sequence (length-normalised)",
    "sequence_sum_level": "per sequence (whole product)",
    # advantages
    "raw_rewards": "rewards taken as advantages, without a baseline",
    "group_centered": "advantages centred within groups{group}, not divided by a std",
    "group_normalized": "advantages standardised within groups{group} (ddof {ddof}, ε {eps})",
    "leave_one_out": "a leave-one-out baseline within groups{group} (RLOO)",
    "length_weighted": "the length-weighted baseline of OPO within groups{group}",
    "ranked": "ranks within groups{group} as advantages (GOPO)",
    "normal_scores": "normal scores of the ranks within groups{group} as advantages",
    "best_of_group": "pass@k advantages: only the best of each group{group} counts",
    "batch_scaled": "advantages centred within groups{group} and divided by the std of the batch",
    "batch_normalized": "advantages standardised over the whole batch",
    "gpg": "advantages centred within groups{group}, scaled up by the share of groups with contrast (GPG)",
    "normalized_then_summed": "each reward standardised within groups{group}, then summed (GDPO)",
    "normalized_then_whitened": "each reward standardised within groups{group}, summed, whitened over the batch (GDPO)",
    "whitened": "advantages whitened over all tokens of the batch",
    "normalized_twice": "advantages standardised within groups{group} and again over all tokens of the batch",
    "discounted": "token returns discounted by {gamma} and whitened over the batch (REINFORCE++)",
    "step_suffix_sums": "process rewards standardised and summed over the steps to come",
    # aggregations
    "token_sum": "summed over tokens",
    "token_mean": "mean over all tokens",
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
    "absolute": "|log-ratio|",
    "weighted_k1": "importance-weighted k1",
    "weighted_k3": "importance-weighted k3",
    # corrections
    "truncated": "truncated importance weights against the sampler {level} in [{min_ratio}, {max_ratio}]",
    "masked": "importance weights against the sampler {level}, 0 outside [{min_ratio}, {max_ratio}]",
    "indicator": "a mask that drops what left the sampler {level} by more than [{min_ratio}, {max_ratio}]",
    "off_policy_mask": "negative completions dropped above {threshold} nats from the sampler",
    "top_entropy": "only the {share} of the tokens with the highest entropy",
    "early_stop": "no update above a mean ratio of {max_ratio}",
    # rewards and filters
    "soft_overlong": "a soft overlong penalty over the last {buffer} of the budget{budget}, weight {weight}",
    "mixed_groups": "groups without contrast dropped or drawn anew (dynamic sampling)",
    "pass_rate_between": "only groups with a pass rate between {low} and {high}",
    "ended_completions": "truncated completions masked out",
    "first_of_equals": "equal completions counted once",
}
"""Kernel -> what it is called, its settings in braces; `group` and `budget` are sizes, where they are known."""
NEVER_REACHED = 20.0
"""Limits of a log-ratio in nats that no sentence speaks of."""
SILENT = ("task_reward", "all_groups", "all_completions", "no_penalty")
"""Parts that do nothing."""


def paragraph(
    recipe: Recipe,
    *,
    group_size: int | None = None,
    budget: int | None = None,
    entropy_coef: float = 0.0,
    words: Mapping[Kernel, str] | None = None,
    forms: Mapping[Kernel, Kernel] | None = None,
) -> str:
    """The recipe as a sentence.

    Args:
      recipe: the objective.
      group_size: completions per prompt.
      budget: the length in tokens that a constant denominator divides by.
      entropy_coef: weight of the entropy bonus.
      words: what a trainer's own kernels are called, with their settings in braces.
      forms: a trainer's own kernels, each with the common one that it is a form of.

    >>> from grpo_ref import DAPO
    >>> print(paragraph(DAPO, group_size=16))
    PPO-clip 0.2/0.28 per token; advantages standardised within groups of 16 (ddof 1, ε 0.0001); mean over all tokens; no KL penalty; a soft overlong penalty over the last 0.2 of the budget, weight 1; groups without contrast dropped or drawn anew (dynamic sampling).
    """
    sizes = {
        "group": "" if group_size is None else f" of {group_size}",
        "budget": "" if budget is None else f" of {budget} tokens",
    }

    def told(part: Slot | Kernel) -> str:
        return _told(part, sizes, words or {}, forms or {})

    sentences = [
        _at_level(told(recipe.surrogate), told(recipe.level))
        if _has_ratio(recipe)
        else told(recipe.surrogate),
        *(_limits(recipe)),
        *(told(part) for part in recipe.corrections),
        told(recipe.advantage),
        told(recipe.aggregate),
        _penalty(recipe, told),
        *([f"entropy bonus {_number(entropy_coef)}"] if entropy_coef else []),
        *(told(part) for part in (recipe.reward, recipe.keep, recipe.admit)),
    ]
    return "; ".join(sentence for sentence in sentences if sentence) + "."


def _at_level(surrogate: str, level: str) -> str:
    """A surrogate and the stretch of its ratio; a comma parts them where the first is a long phrase."""
    return f"{surrogate}{',' if ' with ' in surrogate or ',' in surrogate else ''} {level}"


def _has_ratio(recipe: Recipe) -> bool:
    """Whether the level matters: only to a surrogate that reads the ratio."""
    return "log_ratio" in recipe.surrogate.reads


def _limits(recipe: Recipe) -> list[str]:
    """Limits of the log-ratio that a token may reach."""
    low, high = recipe.log_ratio_limits
    if min(-low, high) >= NEVER_REACHED:
        return []
    return [f"the log-ratio limited to [{_number(low)}, {_number(high)}] nats"]


def _penalty(recipe: Recipe, told: Callable[[Slot], str]) -> str:
    if not recipe.kl_coef:
        return "no KL penalty in the loss" if "ref_log_probs" in recipe.advantage.reads else "no KL penalty"
    average = f", {told(recipe.penalty_aggregate)}" if recipe.penalty_aggregate else ""
    return f"KL penalty {_number(recipe.kl_coef)} ({told(recipe.penalty)}{average})"


def _told(
    part: Slot | Kernel, sizes: Mapping[str, str], words: Mapping[Kernel, str], forms: Mapping[Kernel, Kernel]
) -> str:
    """A part by its own words, by those of the common kernel that it is a form of, or as it is written."""
    kernel = part.kernel if isinstance(part, Slot) else part
    settings = {**_defaults(kernel), **(part.settings if isinstance(part, Slot) else {})}
    if kernel.__name__ in SILENT:
        return ""
    for known in (kernel, forms.get(kernel, kernel)):
        template = words.get(known) or WORDS.get(known.__name__)
        if template is not None:
            shown = {name: _shown(value, sizes, words, forms) for name, value in settings.items()}
            return template.format_map({**_defaults(known), **sizes, **shown})
    inner = [_told(value, sizes, words, forms) for value in settings.values() if isinstance(value, Slot)]
    about = kernel.__name__.replace("_", " ")
    return (
        f"{', '.join(filter(None, inner))} ({about})"
        if inner
        else str(part if isinstance(part, Slot) else about)
    )


def _shown(
    value: Any, sizes: Mapping[str, str], words: Mapping[Kernel, str], forms: Mapping[Kernel, Kernel]
) -> str:
    if isinstance(value, Slot) or callable(value):
        return _told(value, sizes, words, forms)
    return _number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def _defaults(kernel: Kernel) -> dict[str, Any]:
    parameters = inspect.signature(kernel).parameters.values()
    return {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}


def _number(value: float) -> str:
    """A number as one writes it: 0.2, 1e-06, ∞."""
    return "∞" if value == math.inf else "-∞" if value == -math.inf else f"{value:g}"
