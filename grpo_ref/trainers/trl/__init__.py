"""TRL 1.16.0, `GRPOConfig` and `GRPOTrainer`."""

from types import SimpleNamespace
from typing import Any

from grpo_ref.kernels.advantages import batch_scaled, group_centered, group_normalized, normalized_then_summed
from grpo_ref.kernels.aggregation import (
    fixed_length,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
)
from grpo_ref.kernels.corrections import masked, off_policy_mask, top_entropy, truncated
from grpo_ref.kernels.filters import all_completions, all_groups, ended_completions
from grpo_ref.kernels.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.kernels.penalties import k3, weighted_k3
from grpo_ref.kernels.rewards import task_reward
from grpo_ref.kernels.surrogates import (
    cispo,
    clipped,
    dual_clipped,
    geometric_mean_clipped,
    gspo_token,
    sapo,
    two_sided_clipped,
    vespo,
)
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.trainers.dialect import Dialect, counted, one_of
from grpo_ref.trainers.trl.keys import ABOUT, ALIASES, CONCEPTS, DEFAULTS, OTHERS
from grpo_ref.trainers.trl.quirks import CALLS, generation_mean
from grpo_ref.trainers.trl.traps import TRAPS

LOSS_TYPES = ("grpo", "bnpo", "dr_grpo", "dapo", "luspo", "cispo", "sapo", "vespo", "gmpo")
LEVELS = {"token": token_level, "sequence": sequence_mean_level, "sequence_token": sequence_mean_level}
MODES = {
    "token_truncate": (truncated, token_level),
    "token_mask": (masked, token_level),
    "sequence_truncate": (truncated, sequence_sum_level),
    "sequence_mask": (masked, sequence_sum_level),
}
SCALES = {True: "group", False: "none", "group": "group", "batch": "batch", "none": "none"}


def recipe(**config: Any) -> Recipe:
    """The recipe that TRL 1.16.0 computes.

    Args:
      config: keys of `GRPOConfig`; arguments of `GRPOTrainer` are accepted and do not touch the objective.

    Raises:
      ValueError: if a key is unknown, or a value is one that TRL would refuse.

    >>> from grpo_ref import GRPO
    >>> recipe(loss_type="dr_grpo", beta=0.0).differences(GRPO)
    {'penalty': 'weighted_k3', 'kl_coef': '0.0', 'aggregate': 'fixed_length'}
    """
    return DIALECT.recipe(**config)


def _build(s: SimpleNamespace) -> Recipe:
    if s.num_generations < 2:
        raise ValueError(f"num_generations: TRL refuses groups of fewer than 2, got {s.num_generations}")
    loss_type = one_of("loss_type", s.loss_type, dict(zip(LOSS_TYPES, LOSS_TYPES, strict=True)))
    level = one_of("importance_sampling_level", s.importance_sampling_level, LEVELS)
    return Recipe(
        reward=slot(task_reward),
        keep=slot(all_groups),
        advantage=_advantage(s),
        level=sequence_sum_level if loss_type == "vespo" else level,
        surrogate=_surrogate(s, loss_type),
        penalty=slot(weighted_k3 if s.use_bias_correction_kl else k3),
        kl_coef=s.beta,
        aggregate=_aggregate(s, loss_type),
        source=DIALECT.version,
        admit=slot(ended_completions if s.mask_truncated_completions else all_completions),
        corrections=_corrections(s),
    )


def _advantage(s: SimpleNamespace) -> Slot:
    if s.multi_objective_aggregation == "normalize_then_sum":
        return slot(normalized_then_summed, ddof=1, eps=1e-4)
    one_of("multi_objective_aggregation", s.multi_objective_aggregation, {"sum_then_normalize": 0})
    kernels = {
        "group": slot(group_normalized, ddof=1, eps=1e-4),
        "batch": slot(batch_scaled, ddof=1, eps=1e-4),
        "none": slot(group_centered),
    }
    return kernels[one_of("scale_rewards", s.scale_rewards, SCALES)]


def _surrogate(s: SimpleNamespace, loss_type: str) -> Slot:
    high = s.epsilon if s.epsilon_high is None else s.epsilon_high
    if loss_type == "gmpo":  # experimental.gmpo, a trainer of its own
        return slot(geometric_mean_clipped, clip_low=s.epsilon, clip_high=high)
    if loss_type == "cispo":
        return slot(cispo, max_ratio=high)
    if loss_type == "sapo":
        return slot(sapo, tau_positive=s.sapo_temperature_pos, tau_negative=s.sapo_temperature_neg)
    if loss_type == "vespo":
        return slot(
            vespo,
            k_positive=s.vespo_k_pos,
            lambda_positive=s.vespo_lambda_pos,
            k_negative=s.vespo_k_neg,
            lambda_negative=s.vespo_lambda_neg,
        )
    if s.importance_sampling_level == "sequence_token":
        return slot(gspo_token, clip_low=s.epsilon, clip_high=high)
    if s.delta is not None and s.delta >= 1.0 + high:
        return slot(dual_clipped, clip_low=s.epsilon, clip_high=high, max_ratio=s.delta)
    if s.delta is not None:
        return slot(two_sided_clipped, clip_low=s.epsilon, clip_high=high, max_ratio=s.delta)
    return slot(clipped, clip_low=s.epsilon, clip_high=high)


def _aggregate(s: SimpleNamespace, loss_type: str) -> Slot:
    steps = s.gradient_accumulation_steps if s.steps_per_generation is None else s.steps_per_generation
    scale = steps / s.gradient_accumulation_steps
    generation = slot(generation_mean, scale=scale) if scale != 1.0 else slot(token_mean)
    return {
        "grpo": slot(sequence_mean_token_mean),
        "sapo": slot(sequence_mean_token_mean),
        "gmpo": slot(sequence_mean_token_mean),
        "bnpo": slot(token_mean),
        "dr_grpo": slot(fixed_length),
        "luspo": slot(sequence_mean_token_sum),
    }.get(loss_type, generation)


def _corrections(s: SimpleNamespace) -> tuple[Slot, ...]:
    parts = []
    if s.use_vllm and s.vllm_importance_sampling_correction:
        kernel, level = one_of("vllm_importance_sampling_mode", s.vllm_importance_sampling_mode, MODES)
        bounds = {
            "min_ratio": s.vllm_importance_sampling_clip_min or 0.0,
            "max_ratio": float("inf")
            if s.vllm_importance_sampling_clip_max is None
            else s.vllm_importance_sampling_clip_max,
        }
        parts.append(slot(kernel, level=level, **bounds))
    if s.off_policy_mask_threshold is not None:
        parts.append(slot(off_policy_mask, threshold=s.off_policy_mask_threshold))
    if s.top_entropy_quantile < 1.0:
        parts.append(slot(top_entropy, share=s.top_entropy_quantile))
    return tuple(parts)


DIALECT = Dialect(
    name="trl",
    version="TRL 1.16.0",
    defaults=DEFAULTS,
    build=_build,
    choices={
        "loss_type": LOSS_TYPES,
        "importance_sampling_level": tuple(LEVELS),
        "scale_rewards": ("group", "batch", "none"),
        "multi_objective_aggregation": ("sum_then_normalize", "normalize_then_sum"),
        "use_bias_correction_kl": (True, False),
        "mask_truncated_completions": (True, False),
        "use_vllm": (True, False),
        "vllm_importance_sampling_mode": tuple(MODES),
    },
    others=OTHERS,
    aliases=ALIASES,
    concepts=CONCEPTS,
    about=ABOUT,
    traps=TRAPS,
    forms={generation_mean: token_mean},
    metrics={
        "clip_ratio/low_mean": counted("clip_low"),
        "clip_ratio/high_mean": counted("clip_high"),
        "clip_ratio/region_mean": counted("clip_low", "clip_high"),
        "kl": counted("kl"),
    },
    calls=CALLS,
)
