"""The objective of AReaL: the meaning of its keys, and the recipe that they give."""

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt
from typing import Any

from grpo_ref.advantages import (
    batch_normalized,
    group_centered,
    group_normalized,
    leave_one_out,
    raw_rewards,
    whitened,
    with_teacher,
)
from grpo_ref.aggregation import token_mean
from grpo_ref.corrections import masked, second_moment_mask, truncated
from grpo_ref.explain.dialect import NO_CLIP_LOW, Objective
from grpo_ref.explain.dialect_files import dialect_of
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
from grpo_ref.explain.dialects.areal.keys import (
    BUDGET,
    DEFAULTS,
    NORM,
    NOT_SET,
    REJECTION,
    weights_of_teacher,
)
from grpo_ref.explain.dialects.areal.phrases import PHRASES
from grpo_ref.explain.dialects.areal.refusals import check, check_run, group
from grpo_ref.explain.dialects.areal.traps import TRAPS
from grpo_ref.explain.dialects.common.averages import WHOLE_STEP
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_groups
from grpo_ref.levels import sequence_mean_level, token_level
from grpo_ref.penalties import k1, k2, k3, no_penalty, to_teacher
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import cispo, clipped, dual_clipped, importance_weighted, sapo

PENALTIES = {
    "k1": slot(k1, max_log_ratio=10.0),
    "k2": slot(k2, max_log_ratio=sqrt(20.0)),
    "k3": slot(k3, max_value=10.0),
}
"""Penalties. The value is limited to 10; for k2, this is a limit of its log-ratio."""


def recipe(**config: Any) -> Recipe:
    """Return the recipe that AReaL computes.

    Args:
      config: the keys of its YAML files, in groups or not.

    Raises:
      ValueError: if a key is unknown, or if AReaL would refuse a value.

    >>> recipe(actor={"kl_ctl": 0.0, "importance_sampling_level": "sequence"}).level.__name__
    'sequence_mean_level'
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    settings = s
    check(settings)
    sequence = settings["importance_sampling_level"] == "sequence"
    splits = sequence and _leaves_out_tokens(settings)
    recipe = Recipe(
        reward=_reward(settings),
        keep=slot(all_groups),
        advantage=_advantage(settings),
        level=sequence_mean_level if sequence and not splits else token_level,
        surrogate=_surrogate(settings, sequence, splits),
        penalty=slot(no_penalty),
        kl_coef=0.0,
        aggregate=slot(token_mean),
        source=DIALECT.version,
        corrections=_corrections(settings),
    )
    return _with_teacher(recipe, settings)


def _with_teacher(recipe: Recipe, settings: Mapping[str, Any]) -> Recipe:
    """Return the recipe with the loss of a teacher beside that of the rewards, or without the rewards."""
    weights = weights_of_teacher(settings)
    if weights is None:
        return recipe
    rewards, coef = weights
    if rewards != 0.0:
        return replace(recipe, penalty=slot(to_teacher, estimator=k1), kl_coef=coef)
    return replace(
        recipe,
        level=token_level,
        surrogate=slot(importance_weighted),
        corrections=(),
        distill=slot(with_teacher, reward_coef=0.0, coef=coef, student="current"),
    )


def _reward(settings: Mapping[str, Any]) -> Slot:
    """Return the task's reward with all changes before its normalization."""
    keys = {"bias": "reward_bias", "scale": "reward_scaling", "limit": "reward_clip"}
    told = {name: settings[key] for name, key in keys.items() if settings[key] != DEFAULTS[key]}
    if settings["overlong_reward_penalty"]:
        told |= {"tail": settings["overlong_tokens"], "factor": settings["overlong_penalty_factor"]}
        budget = settings["actor.max_new_tokens"]
        told["budget"] = {None: BUDGET, "${gconfig.max_new_tokens}": settings["gconfig.max_new_tokens"]}.get(
            budget, budget
        )
    return slot(rescaled, **told)


def _advantage(settings: Mapping[str, Any]) -> Slot:
    """Return the advantage: reward_norm first, then the KL and the decay along the tokens, then adv_norm."""
    scores, norm = _scores(settings), group(settings, "adv_norm", NORM)
    decay, coef = settings["discount"] * settings["gae_lambda"], settings["kl_ctl"]
    if norm is None and decay == 1.0 and coef == 0.0:
        return scores
    told: dict[str, Any] = {"scores": scores}
    if coef != 0.0:
        told |= {"penalty": PENALTIES[settings["kl_estimator"]], "kl_coef": coef}
    told |= {} if decay == 1.0 else {"decay": decay}
    told |= {} if norm is None else {"norm": slot(normalized, **_as_settings(norm))}
    return slot(_returns(settings), **told)


def _returns(settings: Mapping[str, Any]) -> Any:
    """Return the kernel for returns.

    Its KL is that of the sampling policy, or of the sampler if the loss is decoupled.
    """
    sampler, coef = settings["use_decoupled_loss"], settings["kl_ctl"]
    if coef == 0.0:
        return returned
    if coef > 0.0 and settings["ref.backend"] is not None:
        return returned_with_samplers_penalty if sampler else returned_with_penalty
    return returned_without_reference_of_sampler if sampler else returned_without_reference


def _as_settings(norm: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of `normalized` under the names of its arguments."""
    return {
        "mean_level": norm["mean_level"],
        "std_level": norm["std_level"],
        "leave_one_out": norm["mean_leave1out"],
        "ddof": int(norm["std_unbiased"]),
        "eps": norm["eps"],
    }


def _scores(settings: Mapping[str, Any]) -> Slot:
    """Return the normalization of the rewards within a group, as a common kernel if one fits."""
    norm = group(settings, "reward_norm", NORM)
    if norm is None or (norm["mean_level"], norm["std_level"]) == (None, None):
        return slot(raw_rewards)
    levels, others = (norm["mean_level"], norm["std_level"]), norm["mean_leave1out"]
    usual = {"ddof": int(norm["std_unbiased"]), "eps": norm["eps"]}
    if levels == ("batch", "batch") and not others:
        return slot(batch_normalized, **usual)
    if levels == ("group", "group") and not others:
        return slot(group_normalized, **usual)
    if levels == ("group", None):
        return slot(leave_one_out) if others else slot(group_centered)
    return slot(normalized, **_as_settings(norm))


def _surrogate(settings: Mapping[str, Any], sequence: bool, splits: bool) -> Slot:
    low, high, cap = settings["eps_clip"], settings["eps_clip_higher"], settings["c_clip"]
    clips = {"clip_low": min(low, NO_CLIP_LOW), "clip_high": low if high is None else high}
    one = slot(clipped, **clips) if cap is None else slot(dual_clipped, **clips, max_ratio=cap)
    if settings["use_sapo_loss"]:
        one = slot(sapo, tau_positive=settings["sapo_tau_pos"], tau_negative=settings["sapo_tau_neg"])
    if settings["use_cispo_loss"]:
        one = slot(cispo, min_ratio=max(1.0 - low, 0.0), max_ratio=1.0 + (high or 0.0))
    if splits:
        return slot(at_ratio_one_of_what_is_kept if _reuses(settings) else of_what_is_kept, surrogate=one)
    one = slot(of_mean_advantage, surrogate=one) if sequence else one
    return slot(at_ratio_one, surrogate=one) if _reuses(settings) else one


def _reuses(settings: Mapping[str, Any]) -> bool:
    """Return true if the ratio is taken to the policy being trained. This is never so with SAPO."""
    return settings["prox_logp_method"] == "reuse_train_logp" and not settings["use_sapo_loss"]


def _leaves_out_tokens(settings: Mapping[str, Any]) -> bool:
    """Return true if a filter can exclude one token of a completion and keep another."""
    told, moment = group(settings, "rejection_sampling", REJECTION), settings["m2_threshold"]
    single = told is not None and told["level"] == "token" and told["action"] == "mask"
    if settings["use_sapo_loss"]:
        return moment is not None and settings["prox_logp_method"] == "reuse_train_logp"
    return (settings["use_decoupled_loss"] or _reuses(settings)) and (single or moment is not None)


def _corrections(settings: Mapping[str, Any]) -> tuple[Slot, ...]:
    """Return the filters for the two policies that they compare."""
    told, moment = group(settings, "rejection_sampling", REJECTION), settings["m2_threshold"]
    told = None if settings["use_sapo_loss"] else told
    reuses, apart = settings["prox_logp_method"] == "reuse_train_logp", settings["use_decoupled_loss"]
    if not reuses and not apart:
        return () if told is None else _without_mismatch(told)
    filters = () if told is None else (_filter(told),)
    if moment is not None:
        if filters:
            filters = (slot(second_moment_mask_then, threshold=moment, then=filters[0]),)
        else:
            filters = (slot(second_moment_mask, threshold=moment, rescale=True),)
    if not reuses:
        return filters
    return tuple(slot(of_learner if apart else of_learner_since, then=each) for each in filters)


def _filter(told: Mapping[str, Any]) -> Slot:
    """Return a filter; a common kernel if the ratio is both the measure and the weight."""
    level = sequence_mean_level if told["level"] == "sequence" else token_level
    if told["metric"] != "ratio" or (told["level"] == "sequence" and told["agg"] != "mean"):
        return slot(rejected, **told)
    window = {"min_ratio": told["lower"] or 0.0, "max_ratio": told["upper"]}
    at = {} if level is token_level else {"level": level}
    return slot(masked if told["action"] == "mask" else truncated, **at, **window)


def _without_mismatch(told: Mapping[str, Any]) -> tuple[Slot, ...]:
    """Return the effect of the filter on a ratio of 1."""
    measure = 1.0 if told["metric"] == "ratio" else 0.0
    if measure <= told["upper"] and (told["lower"] is None or measure >= told["lower"]):
        return ()
    return (slot(of_one_weight, weight=0.0 if told["action"] == "mask" else told["lower"]),)


def _of_group(
    name: str, defaults: Mapping[str, Any], **values: tuple[Any, ...]
) -> dict[str, tuple[Any, ...]]:
    """Return the choices for the keys of a group, including "not given"."""
    return {f"{name}.{key}": (NOT_SET, *values[key]) for key in defaults if key in values}


NORM_CHOICES: dict[str, tuple[Any, ...]] = {
    "mean_level": ("group", "batch", None),
    "std_level": ("group", "batch", None),
    "mean_leave1out": (True, False),
    "std_unbiased": (True, False),
}
DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        check_run=check_run,
        averages=lambda s: WHOLE_STEP,
        phrases=PHRASES,
        forms={
            rescaled: task_reward,
            normalized: group_normalized,
            returned: whitened,
            rejected: masked,
            of_mean_advantage: clipped,
            of_what_is_kept: clipped,
            at_ratio_one: clipped,
        },
    ),
    TRAPS,
)
