"""The objective of Open Instruct: the meaning of its keys, and the recipe that they give."""

from math import inf
from typing import Any

from grpo_ref.advantages import group_centered, group_normalized
from grpo_ref.aggregation import token_mean, token_sum_over
from grpo_ref.corrections import indicator, truncated
from grpo_ref.explain.dialect import Averages, Objective, one_of
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.open_instruct.kernels import (
    KL_ESTIMATORS,
    groups_with_std,
    rho_clamp,
    rho_window,
    vaco_mask,
)
from grpo_ref.explain.dialects.open_instruct.phrases import PHRASES
from grpo_ref.explain.dialects.open_instruct.refusals import check, check_run
from grpo_ref.explain.dialects.open_instruct.traps import TRAPS
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_completions, all_groups, ended_completions, mixed_groups
from grpo_ref.levels import sequence_mean_level, token_level
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import cispo, clipped

NAMED = {f"kl{number + 1}": estimator for number, estimator in KL_ESTIMATORS.items()}
"""Estimators by their names until November 2025: kl1 is number 0."""
NO_LOWER_CLIP = 1.0 - 2.0**-53
"""The widest clip_low of the kernel. In Open Instruct it may be 1 or more, and then no ratio is too low."""


def recipe(**config: Any) -> Recipe:
    """Return the recipe that Open Instruct computes.

    Args:
      config: keys of `GRPOExperimentConfig`.

    Raises:
      ValueError: if a key is unknown, or if Open Instruct would refuse a value.

    >>> print(recipe(loss_fn="cispo").surrogate)
    cispo(max_ratio=1.272)
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    check(s)
    low, high = (s.clip_lower, s.clip_higher) if s.cliprange is None else (s.cliprange, s.cliprange)
    surrogates = {
        "dapo": slot(clipped, clip_low=min(low, NO_LOWER_CLIP), clip_high=high),
        "cispo": slot(cispo, max_ratio=1.0 + high),
    }
    advantages = {"centered": slot(group_centered), "standard": slot(group_normalized, ddof=s.ddof, eps=1e-8)}
    divisor = s.loss_denominator if s.masked_mean_denominator is None else s.masked_mean_denominator
    return Recipe(
        reward=slot(task_reward),
        keep=slot(groups_with_std if s.filter_zero_std_samples else all_groups),
        advantage=one_of("advantage_normalization_type", s.advantage_normalization_type, advantages),
        level=token_level,
        surrogate=one_of("loss_fn", s.loss_fn, surrogates),
        penalty=one_of("kl_estimator", s.kl_estimator, NAMED if s.names_estimators else KL_ESTIMATORS),
        kl_coef=s.beta if s.load_ref_policy else 0.0,
        aggregate=slot(token_mean) if divisor == "token" else slot(token_sum_over, tokens=float(divisor)),
        source=DIALECT.version,
        admit=slot(ended_completions if s.mask_truncated_completions else all_completions),
        corrections=_corrections(s),
    )


def _corrections(s: Settings) -> tuple[Slot, ...]:
    """Return the limited ratio of learner to sampler, and a window outside which tokens do not count."""
    if not s.use_rho_correction:
        cap = s.truncated_importance_sampling_ratio_cap
        return (slot(rho_clamp, max_ratio=cap),) if cap > 0.0 else ()
    level = sequence_mean_level if s.rho_mask_sequence_level else token_level
    low, high = _bounds(s.rho_clamp_lower_bound, s.rho_clamp_upper_bound)
    clamp = slot(rho_clamp, min_ratio=low, max_ratio=high, level=level)
    low, high = _bounds(s.rho_mask_lower_bound, s.rho_mask_upper_bound)
    if (low, high) == (0.0, inf):
        return (clamp,)
    if s.rho_mask_tv_divergence:
        return clamp, slot(vaco_mask, min_divergence=low, max_divergence=high)
    return clamp, slot(rho_window, min_ratio=low, max_ratio=high, level=level)


def _bounds(lower: float, upper: float) -> tuple[float, float]:
    """Return the bounds. A bound that is not above 0 means no bound."""
    return max(lower, 0.0), upper if upper > 0.0 else inf


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        check_run=check_run,
        averages=lambda s: Averages("the mini-batch of a step, all ranks and packs together", over="step"),
        phrases=PHRASES,
        forms={groups_with_std: mixed_groups, rho_clamp: truncated, rho_window: indicator},
    ),
    TRAPS,
)
