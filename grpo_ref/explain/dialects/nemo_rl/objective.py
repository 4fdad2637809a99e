"""The objective of NeMo-RL: the meaning of its keys, and the recipe that they give."""

from math import inf, sqrt
from typing import Any

from grpo_ref.advantages import (
    group_centered,
    group_normalized,
    leave_one_out,
    normalized_then_summed,
    raw_rewards,
    whitened,
    with_teacher,
)
from grpo_ref.aggregation import sequence_mean_token_mean, token_mean
from grpo_ref.corrections import indicator, masked, truncated
from grpo_ref.explain.dialect import NO_CLIP_LOW, Objective
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.common.averages import WHOLE_STEP
from grpo_ref.explain.dialects.nemo_rl.kernels import (
    EPS,
    NO_LIMITS,
    any_others_differ,
    close_to_sampler,
    compared_after_filter,
    compared_with_others,
    each_compared_after_filter,
    each_compared_then_summed,
    ended_and_close,
    ended_and_others_differ,
    finite_geometric_filter,
    finite_ratio,
    finite_window,
    less_if_cut_off,
    less_overlong,
    limited,
    of_the_policy,
    others_differ,
    ratio_of_one,
    scaled,
    scored,
    scored_against_sampler,
    varied_inside,
    whitened_after_filter,
    whitened_over_tokens,
    whitened_with_penalty,
)
from grpo_ref.explain.dialects.nemo_rl.keys import (
    SCORED,
)
from grpo_ref.explain.dialects.nemo_rl.phrases import PHRASES
from grpo_ref.explain.dialects.nemo_rl.refusals import check, check_run
from grpo_ref.explain.dialects.nemo_rl.traps import TRAPS
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_completions, all_groups, ended_completions, mixed_groups
from grpo_ref.levels import sequence_mean_level, token_level
from grpo_ref.penalties import k1, k2, k3
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import soft_overlong, task_reward
from grpo_ref.surrogates import cispo, clipped, dual_clipped, reinforce

SCORES = {
    (False, False): slot(group_centered),
    (False, True): slot(group_normalized, ddof=1, eps=EPS),
    (True, False): slot(leave_one_out),
    (True, True): slot(compared_with_others),
}
"""Advantages, by two questions: is the baseline the mean of the others, and are they divided by the spread?"""
PENALTIES = {"k1": slot(k1), "k2": slot(k2), "k3": slot(k3)}
"""Penalties in the reward, which have no limits."""


def recipe(**config: Any) -> Recipe:
    """The recipe that NeMo-RL's GRPO computes.

    Args:
      config: the keys of loss_fn, grpo and policy, in groups or not. The defaults are those of
        `grpo_math_1B.yaml`.

    Raises:
      ValueError: if a key is unknown, if NeMo-RL would refuse a value, or if no recipe here can express it.

    >>> print(recipe(loss_fn={"ratio_clip_max": 0.28, "ratio_clip_c": 10}).surrogate)
    dual_clipped(clip_low=0.2, clip_high=0.28, max_ratio=10)
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    settings = _followed(s)
    check(settings)
    coef = 0.0 if settings["use_kl_in_reward"] else settings["reference_policy_kl_penalty"]
    filters = settings["overlong_filtering"] or settings["seq_logprob_error_threshold"] is not None
    aggregate = (
        slot(token_mean, eps=1e-8)
        if settings["token_level_loss"]
        else slot(sequence_mean_token_mean, count_empty=not filters, eps=1e-8)
    )
    return Recipe(
        reward=_reward(settings),
        keep=_keep(settings),
        advantage=_advantage(settings),
        level=_level(settings),
        surrogate=_surrogate(settings),
        penalty=_penalty(settings),
        kl_coef=coef,
        aggregate=aggregate,
        source=DIALECT.version,
        admit=_admit(settings),
        corrections=_corrections(settings),
        distill=_distill(settings),
    )


def _followed(settings: Settings) -> Settings:
    """Replace settings that refer to another key, by None or an interpolation, by the value of that key."""
    followed = {
        "adv_estimator.normalize_rewards": "normalize_rewards",
        "adv_estimator.use_leave_one_out_baseline": "use_leave_one_out_baseline",
        "reward_shaping.max_response_length": "policy.max_total_sequence_length",
    }
    told = {
        key: settings[other]
        for key, other in followed.items()
        if settings[key] is None or (isinstance(settings[key], str) and settings[key].startswith("${"))
    }
    return _with_kind(settings | told)


def _with_kind(settings: Settings) -> Settings:
    """Complete settings from before 0.7, where the ratio alone gave the limits and "tis" had only an upper one."""
    if settings[SCORED]:
        return settings
    has_limits = settings["truncated_importance_sampling_ratio"] is not None
    kind = settings["truncated_importance_sampling_type"] if has_limits else None
    low = None if kind in (None, "tis") else settings["truncated_importance_sampling_ratio_min"]
    limits = {"truncated_importance_sampling_type": kind, "truncated_importance_sampling_ratio_min": low}
    return settings | limits


def _source(settings: Settings) -> dict[str, Any]:
    """Return the interval that rewards are limited to and the one that they are mapped onto; {} without scaling."""
    if not settings["reward_scaling.enabled"]:
        return {}
    source, target = (
        (settings[f"reward_scaling.{side}_min"], settings[f"reward_scaling.{side}_max"])
        for side in ("source", "target")
    )
    return {"source": source, "target": target}


def _reward(settings: Settings) -> Slot:
    mapped = _source(settings)
    if not settings["reward_shaping.enabled"]:
        return slot(scaled, **mapped) if mapped else slot(task_reward)
    share = settings["reward_shaping.stop_properly_penalty_coef"]
    if share is not None:
        return slot(less_if_cut_off, share=share, **mapped)
    penalty = settings["reward_shaping.overlong_buffer_penalty"]
    return slot(
        less_overlong,
        longest=settings["reward_shaping.max_response_length"],
        buffer=settings["reward_shaping.overlong_buffer_length"],
        **({} if penalty == 1 else {"penalty": penalty}),
        **mapped,
    )


def _by_others(settings: Settings) -> bool:
    """Return true if dynamic sampling judges each completion by the spread of the others."""
    return bool(settings["use_dynamic_sampling"] and settings["use_leave_one_out_baseline"])


def _keep(settings: Settings) -> Slot:
    limits = _filtered_inside(settings)
    if not settings["use_dynamic_sampling"]:
        return slot(all_groups)
    if _by_others(settings):
        return slot(any_others_differ, **limits)
    return slot(varied_inside, **limits) if limits else slot(mixed_groups)


def _filtered_inside(settings: Settings) -> dict[str, Any]:
    source = _source(settings).get("source")
    return {} if source is None else {"limits": source}


def _admit(settings: Settings) -> Slot:
    overlong, threshold = settings["overlong_filtering"], settings["seq_logprob_error_threshold"]
    if _by_others(settings):
        kernel = ended_and_others_differ if overlong else others_differ
        return slot(kernel, **_filtered_inside(settings))
    if threshold is not None:
        return slot(ended_and_close if overlong else close_to_sampler, threshold=threshold)
    return slot(ended_completions if overlong else all_completions)


def _advantage(settings: Settings) -> Slot:
    name = settings["adv_estimator.name"]
    low, high = settings["advantage_clip_low"], settings["advantage_clip_high"]
    limits = (-inf if low is None else low, inf if high is None else high)
    clips = {} if limits == NO_LIMITS else {"limits": limits}
    by_others = {"source": _source(settings)["source"]} if _source(settings) else {}
    if name == "opd":  # the advantages of a teacher replace those of the rewards
        return slot(raw_rewards)
    if name == "reinforce_plus_plus":
        return _whitened(settings, clips, by_others)
    others = settings["adv_estimator.use_leave_one_out_baseline"]
    divided = settings["adv_estimator.normalize_rewards"]
    compared = {"leave_one_out": others, "normalized": divided}
    if name == "gdpo":
        weights = settings["adv_estimator.reward_weights"]
        told = {} if weights is None else {"reward_weights": tuple(weights)}
        kernel = each_compared_after_filter if _by_others(settings) else each_compared_then_summed
        return slot(kernel, **told, **compared, **_source(settings), **clips)
    if _by_others(settings):
        return slot(compared_after_filter, **compared, **by_others, **clips)
    scores = SCORES[bool(others), bool(divided)]
    if divided and not settings["std_is_of_sample"]:
        scores = slot(compared_with_others if others else group_normalized, ddof=0, eps=0.0)
    return slot(limited, scores=scores, **clips) if clips else scores


def _distill(settings: Settings) -> Slot | None:
    if settings["adv_estimator.name"] != "opd":
        return None
    limit = settings["advantage_clip_high"]
    return slot(with_teacher, reward_coef=0.0, **({} if limit is None else {"max_log_ratio": limit}))


def _whitened(settings: Settings, clips: dict[str, Any], by_others: dict[str, Any]) -> Slot:
    """Return REINFORCE++. A KL in the reward is subtracted from each token's own advantage."""
    base = {"baseline": settings["adv_estimator.minus_baseline"], **clips}
    coef = settings["reference_policy_kl_penalty"]
    if settings["use_kl_in_reward"] and coef != 0:
        penalty = PENALTIES[settings["reference_policy_kl_type"]]
        return slot(whitened_with_penalty, penalty=penalty, kl_coef=coef, **base)
    if _by_others(settings):
        return slot(whitened_after_filter, **base, **by_others)
    return slot(whitened_over_tokens, **base)


def _level(settings: Settings) -> Any:
    """Return the level. A ratio that is set to 1, or is not used, is per token."""
    alone = settings["force_on_policy_ratio"] or settings["disable_ppo_ratio"]
    return sequence_mean_level if settings["sequence_level_importance_ratios"] and not alone else token_level


def _surrogate(settings: Settings) -> Slot:
    low, high, dual = (settings[f"ratio_clip_{end}"] for end in ("min", "max", "c"))
    if settings["force_on_policy_ratio"]:
        return slot(ratio_of_one)
    if settings["disable_ppo_ratio"]:
        return slot(reinforce)
    if settings["use_cispo"]:
        return slot(cispo, min_ratio=max(1.0 - low, 0.0), max_ratio=1.0 + high)
    clips = {"clip_low": min(low, NO_CLIP_LOW), "clip_high": high}
    return slot(clipped, **clips) if dual is None else slot(dual_clipped, **clips, max_ratio=dual)


def _penalty(settings: Settings) -> Slot:
    limits = (settings["kl_input_clamp_value"], settings["kl_output_clamp_value"])
    log_ratio, value = (inf if limit is None else limit for limit in limits)
    if not settings[SCORED]:
        return _direct(settings["reference_policy_kl_type"], log_ratio, value)
    kernel = scored_against_sampler if settings["use_on_policy_kl_approximation"] else scored
    estimator = settings["reference_policy_kl_type"]
    return slot(kernel, estimator=estimator, max_log_ratio=log_ratio, max_value=value)


def _direct(estimator: str, log_ratio: float, value: float) -> Slot:
    """Return the plain estimate, as before 0.7.

    For k1 and k2, a limit of its value is a limit of the log-ratio.
    """
    if estimator == "k3":
        return slot(k3, max_log_ratio=log_ratio, max_value=value)
    largest = value if estimator == "k1" else sqrt(2.0 * value)
    return slot(PENALTIES[estimator].kernel, max_log_ratio=min(log_ratio, largest))


def _corrections(settings: Settings) -> tuple[Slot, ...]:
    if not settings["use_importance_sampling_correction"]:
        return ()
    low, high = (settings[f"truncated_importance_sampling_ratio{end}"] for end in ("_min", ""))
    whole = {"whole": True} if settings["sequence_level_importance_ratios"] else {}
    window = {"min_ratio": low, "max_ratio": high}
    kind = settings["truncated_importance_sampling_type"]
    parts: tuple[Slot, ...] = (slot(finite_ratio, **whole),)
    if kind == "tis":
        parts = (slot(finite_ratio, **whole, min_ratio=low or 0.0, max_ratio=high),)
    elif kind == "icepop":
        parts = (slot(finite_window, **whole, **window),)
    elif kind == "seq-mask-tis":
        parts = (slot(finite_geometric_filter, **window), slot(finite_ratio))
    if settings["force_on_policy_ratio"] and settings[SCORED]:
        return tuple(slot(of_the_policy, weights=part) for part in parts)
    return parts


BOTH = (True, False)
DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        check_run=lambda s: check_run(_followed(s)),
        averages=lambda s: WHOLE_STEP,
        phrases=PHRASES,
        forms={
            compared_with_others: group_normalized,
            compared_after_filter: group_normalized,
            each_compared_after_filter: normalized_then_summed,
            each_compared_then_summed: normalized_then_summed,
            whitened_over_tokens: whitened,
            whitened_after_filter: whitened,
            less_overlong: soft_overlong,
            varied_inside: mixed_groups,
            any_others_differ: mixed_groups,
            ended_and_close: ended_completions,
            ratio_of_one: reinforce,
            scored: k3,
            scored_against_sampler: k3,
            finite_ratio: truncated,
            finite_window: masked,
            finite_geometric_filter: indicator,
        },
    ),
    TRAPS,
)
