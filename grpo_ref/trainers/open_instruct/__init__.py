"""Open Instruct at e6c3044a (August 2026), `GRPOExperimentConfig`."""

from math import inf
from types import SimpleNamespace
from typing import Any

from grpo_ref.kernels.advantages import group_centered, group_normalized
from grpo_ref.kernels.aggregation import token_mean, token_sum_over
from grpo_ref.kernels.corrections import indicator, truncated
from grpo_ref.kernels.filters import all_completions, all_groups, ended_completions, mixed_groups
from grpo_ref.kernels.levels import sequence_mean_level, token_level
from grpo_ref.kernels.rewards import task_reward
from grpo_ref.kernels.surrogates import cispo, clipped
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.trainers.dialect import Dialect, counted, one_of
from grpo_ref.trainers.open_instruct.keys import ABOUT, CONCEPTS, DEFAULTS, OTHERS
from grpo_ref.trainers.open_instruct.quirks import CALLS, KL_ESTIMATORS
from grpo_ref.trainers.open_instruct.traps import TRAPS

ADVANTAGES = {"centered": slot(group_centered), "standard": slot(group_normalized, ddof=0, eps=1e-8)}


def recipe(**config: Any) -> Recipe:
    """The recipe that Open Instruct computes.

    Args:
      config: keys of `GRPOExperimentConfig`.

    Raises:
      ValueError: if a key is unknown, or a value is one that Open Instruct would refuse.

    >>> print(recipe(loss_fn="cispo").surrogate)
    cispo(max_ratio=1.272)
    """
    return DIALECT.recipe(**config)


def _build(s: SimpleNamespace) -> Recipe:
    surrogates = {
        "dapo": slot(clipped, clip_low=s.clip_lower, clip_high=s.clip_higher),
        "cispo": slot(cispo, max_ratio=1.0 + s.clip_higher),
    }
    whole = s.loss_denominator == "token"
    return Recipe(
        reward=slot(task_reward),
        keep=slot(mixed_groups if s.filter_zero_std_samples else all_groups),
        advantage=one_of("advantage_normalization_type", s.advantage_normalization_type, ADVANTAGES),
        level=token_level,
        surrogate=one_of("loss_fn", s.loss_fn, surrogates),
        penalty=one_of("kl_estimator", s.kl_estimator, KL_ESTIMATORS),
        kl_coef=s.beta if s.load_ref_policy else 0.0,
        aggregate=slot(token_mean) if whole else slot(token_sum_over, tokens=float(s.loss_denominator)),
        source=DIALECT.version,
        admit=slot(ended_completions if s.mask_truncated_completions else all_completions),
        corrections=_corrections(s),
    )


def _corrections(s: SimpleNamespace) -> tuple[Slot, ...]:
    """The ratio of learner to sampler, limited, and a window outside which nothing counts; 0 is no bound."""
    if not s.use_rho_correction:
        return ()
    level = sequence_mean_level if s.rho_mask_sequence_level else token_level
    upper = s.rho_clamp_upper_bound or inf
    ten = {"level": level, "max_token_log_ratio": 10.0}
    parts = [slot(truncated, min_ratio=s.rho_clamp_lower_bound, max_ratio=upper, **ten)]
    if s.rho_mask_lower_bound or s.rho_mask_upper_bound:
        window = {"min_ratio": s.rho_mask_lower_bound, "max_ratio": s.rho_mask_upper_bound or inf}
        parts.append(slot(indicator, **window, **ten))
    return tuple(parts)


DIALECT = Dialect(
    name="open_instruct",
    version="Open Instruct e6c3044a (2026-08-20)",
    defaults=DEFAULTS,
    build=_build,
    choices={
        "loss_fn": ("dapo", "cispo"),
        "kl_estimator": tuple(KL_ESTIMATORS),
        "advantage_normalization_type": tuple(ADVANTAGES),
        "filter_zero_std_samples": (True, False),
        "mask_truncated_completions": (True, False),
        "use_rho_correction": (True, False),
        "rho_mask_sequence_level": (True, False),
    },
    others=OTHERS,
    concepts=CONCEPTS,
    about=ABOUT,
    traps=TRAPS,
    metrics={"clipfrac": counted("clip_low", "clip_high")},
    calls=CALLS,
)
