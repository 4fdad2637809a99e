"""The objective of TRL 1.16.0: the meaning of its keys, and the recipe that they give."""

import math
from typing import Any

from grpo_ref.advantages import batch_scaled, group_centered, group_normalized, normalized_then_summed
from grpo_ref.aggregation import (
    fixed_length,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
)
from grpo_ref.corrections import off_policy_mask, off_policy_mask_since_update, top_entropy
from grpo_ref.explain.bounds import clipped_as_given
from grpo_ref.explain.dialect import NO_CLIP_LOW, Averages, Objective, one_of
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.trl.kernels import (
    LEVELS,
    cispo_with_any_cap,
    geometric_mean_of_kept,
    sapo_of_any_sign,
    top_entropy_in_float32,
    vespo_in_limits,
    weighted_k3_beside,
)
from grpo_ref.explain.dialects.trl.keys import GMPO, GRPO, WINDOW_LOSSES, has_several_steps, scale_in_effect
from grpo_ref.explain.dialects.trl.phrases import PHRASES
from grpo_ref.explain.dialects.trl.refusals import check, check_run
from grpo_ref.explain.dialects.trl.sampler import sampler_weights
from grpo_ref.explain.dialects.trl.traps import TRAPS
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_completions, all_groups, ended_completions
from grpo_ref.levels import sequence_sum_level, token_level
from grpo_ref.penalties import k3, weighted_k3
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import (
    cispo,
    clipped,
    dual_clipped,
    geometric_mean_clipped,
    importance_weighted,
    sapo,
    two_sided_clipped,
    vespo,
)


def recipe(**config: Any) -> Recipe:
    """Return the recipe that TRL 1.16.0 computes.

    Args:
      config: keys of `GRPOConfig`. Arguments of `GRPOTrainer` are accepted and do not affect the objective.

    Raises:
      ValueError: if a key is unknown, or if TRL would refuse a value.

    >>> from grpo_ref import GRPO
    >>> recipe(loss_type="dr_grpo", beta=0.0).differences(GRPO)
    {'penalty': 'weighted_k3', 'kl_coef': '0.0', 'aggregate': 'fixed_length'}
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    check(s)
    common = {
        "reward": slot(task_reward),
        "keep": slot(all_groups),
        "advantage": _advantage(s),
        "kl_coef": s.beta,
        "source": DIALECT.version,
        "admit": slot(ended_completions if s.mask_truncated_completions else all_completions),
    }
    trainers = {GRPO: _grpo, GMPO: _gmpo} if s.has_gmpo else {GRPO: _grpo}
    trainer = one_of("trainer", s.trainer, trainers)
    return Recipe(**common, **trainer(s))


def _grpo(s: Settings) -> dict[str, Any]:
    """Return the parts of `GRPOTrainer._compute_loss`."""
    if s.loss_type == "gmpo":
        raise ValueError(
            f"loss_type: TRL refuses 'gmpo'; GMPO is a trainer of its own, trl.experimental.gmpo.{GMPO} with its"
            f" GMPOConfig. Here that is trainer={GMPO}"
        )
    one_of("loss_type", s.loss_type, dict.fromkeys(s.known_loss_types))
    level = one_of("importance_sampling_level", s.importance_sampling_level, LEVELS)
    return {
        "level": sequence_sum_level if s.loss_type == "vespo" else level,
        "surrogate": _surrogate(s),
        "penalty": _penalty(s),
        "aggregate": _aggregate(s),
        "corrections": (*(() if s.loss_type == "vespo" else sampler_weights(s)), *_masks(s)),
    }


def _gmpo(s: Settings) -> dict[str, Any]:
    """Return the parts of `GMPOTrainer._compute_loss`, which reads only these keys of the loss."""
    usual = s.top_entropy_quantile >= 1.0 and min(s.epsilon, _high(s)) >= 0.0
    kernel = geometric_mean_clipped if usual else geometric_mean_of_kept
    return {
        "level": token_level,
        "surrogate": slot(kernel, clip_low=max(s.epsilon, -_high(s)), clip_high=_high(s)),
        "penalty": slot(k3),
        "aggregate": slot(sequence_mean_token_mean),
        "corrections": _entropy_mask(s),
    }


def _advantage(s: Settings) -> Slot:
    if s.multi_objective_aggregation == "normalize_then_sum":
        return slot(normalized_then_summed, ddof=1, eps=1e-4)
    one_of("multi_objective_aggregation", s.multi_objective_aggregation, {"sum_then_normalize": 0})
    kernels = {
        "group": slot(group_normalized, ddof=1, eps=1e-4),
        "batch": slot(batch_scaled, ddof=1, eps=1e-4),
        "none": slot(group_centered),
    }
    return kernels[scale_in_effect(s)]


def _high(s: Settings) -> float:
    high: float = s.epsilon if s.epsilon_high is None else s.epsilon_high
    return high


def _surrogate(s: Settings) -> Slot:
    if s.loss_type == "cispo":
        return slot(cispo if _high(s) >= 0.0 else cispo_with_any_cap, max_ratio=_high(s))
    if s.loss_type == "sapo":
        below = min(s.sapo_temperature_pos, s.sapo_temperature_neg) < 0.0
        temperatures = {"tau_positive": s.sapo_temperature_pos, "tau_negative": s.sapo_temperature_neg}
        return slot(sapo_of_any_sign if below else sapo, **temperatures)
    if s.loss_type == "vespo":
        return slot(
            vespo_in_limits,
            k_positive=s.vespo_k_pos,
            lambda_positive=s.vespo_lambda_pos,
            k_negative=s.vespo_k_neg,
            lambda_negative=s.vespo_lambda_neg,
            sampler=sampler_weights(s),
        )
    if s.epsilon is None:
        return slot(importance_weighted)
    clips = {"clip_low": min(s.epsilon, NO_CLIP_LOW), "clip_high": _high(s)}
    if min(s.epsilon, _high(s)) < 0.0 or (s.delta is not None and s.delta <= 1.0):
        capped = {} if s.delta is None else {"max_ratio": s.delta}
        return slot(clipped_as_given, clip_low=s.epsilon, clip_high=_high(s), **capped)
    if s.delta is None:
        return slot(clipped, **clips)
    return slot(dual_clipped if s.delta >= 1.0 + _high(s) else two_sided_clipped, max_ratio=s.delta, **clips)


def _penalty(s: Settings) -> Slot:
    if not s.use_bias_correction_kl:
        return slot(k3)
    if s.loss_type == "vespo":
        return slot(weighted_k3_beside, level=s.importance_sampling_level)
    return slot(weighted_k3)


def _aggregate(s: Settings) -> Slot:
    """Return the average of one step. `calls` handles the micro-batches of the step."""
    return {
        "grpo": slot(sequence_mean_token_mean),
        "sapo": slot(sequence_mean_token_mean),
        "dr_grpo": slot(fixed_length),
        "luspo": slot(sequence_mean_token_sum),
    }.get(s.loss_type, slot(token_mean))


def _masks(s: Settings) -> tuple[Slot, ...]:
    if s.off_policy_mask_threshold is None:
        return _entropy_mask(s)
    threshold = {"threshold": s.off_policy_mask_threshold}
    if not s.off_policy_mask_reads_sampler:
        return (slot(off_policy_mask_since_update, **threshold), *_entropy_mask(s))
    unscored = {"unknown": math.nan} if s.unscored_tokens_give_nan else {}
    return (slot(off_policy_mask, **threshold, **unscored), *_entropy_mask(s))


def _entropy_mask(s: Settings) -> tuple[Slot, ...]:
    share = s.top_entropy_quantile
    return (slot(top_entropy_in_float32, share=share),) if share < 1.0 else ()


def _averages(s: Settings) -> Averages:
    """Return the set over which TRL averages. A micro-batch has per_device_train_batch_size completions.

    No part of a recipe holds a constant factor, or a denominator with tokens that the sum does not have. The text names
    both. If a generation batch is trained on in several steps, the denominator has the tokens of other steps too.
    """
    if s.trainer == GMPO or s.loss_type not in WINDOW_LOSSES:
        padded = s.trainer == GRPO and s.loss_type == "luspo" and s.luspo_trains_on_padding
        text = f"each micro-batch of each process{', padding included' * padded}, and then over these"
        return Averages(text, over="other" if padded else "micro-batch")
    counts_truncated = s.mask_truncated_completions and s.denominator_counts_truncated
    factor = f"{s.gradient_accumulation_steps}/{s.steps_per_generation}"
    notes = [
        *(["tokens of truncated completions included"] if counts_truncated else []),
        *(
            [f"with each step multiplied by gradient_accumulation_steps/steps_per_generation = {factor}"]
            if s.denominator_counts_all_steps and has_several_steps(s)
            else []
        ),
        *(
            ["and the entropy bonus is divided by the same number of tokens"]
            if s.bonus_shares_denominator and (s.entropy_coef or s.use_adaptive_entropy)
            else []
        ),
    ]
    text = ", ".join(["the generation batch, all processes and micro-batches together", *notes])
    return Averages(text, over="other" if counts_truncated or has_several_steps(s) else "step")


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        check_run=check_run,
        averages=_averages,
        phrases=PHRASES,
        forms={
            clipped_as_given: two_sided_clipped,
            cispo_with_any_cap: cispo,
            sapo_of_any_sign: sapo,
            top_entropy_in_float32: top_entropy,
            vespo_in_limits: vespo,
            weighted_k3_beside: weighted_k3,
            geometric_mean_of_kept: geometric_mean_clipped,
        },
    ),
    TRAPS,
)
