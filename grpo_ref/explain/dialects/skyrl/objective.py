"""The objective of SkyRL: the meaning of its keys, and the recipe that they give."""

from math import inf, nan
from typing import Any

from grpo_ref.advantages import discounted, group_centered, group_normalized, leave_one_out, mean_scaled
from grpo_ref.aggregation import fixed_length, sequence_mean_token_mean, token_mean
from grpo_ref.corrections import indicator, truncated, without_outliers
from grpo_ref.explain.dialect import NO_CLIP_LOW, Averages, Objective, one_of
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.common.kernels import returned_with_penalty, turn_token_mean
from grpo_ref.explain.dialects.skyrl.kernels import (
    FORMS,
    cispo_against_sampler,
    clip_cov_of_scaled,
    contrasted,
    contrasted_groups,
    dppo_kl_against_sampler,
    dppo_tv_against_sampler,
    ended_and_contrasted,
    groups_with_a_std,
    kl_cov_of_scaled,
    micro_batch_token_mean,
    normalized_with_padding,
    normalized_with_padding_after_penalty,
    of_what_is_left,
    overlong_in_tokens,
    prompt_mean,
    zero_if_cut_off,
)
from grpo_ref.explain.dialects.skyrl.phrases import PHRASES
from grpo_ref.explain.dialects.skyrl.refusals import check, check_run
from grpo_ref.explain.dialects.skyrl.traps import TRAPS
from grpo_ref.explain.penalty_in_reward import penalized
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_completions, all_groups, ended_completions
from grpo_ref.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.penalties import absolute, k1, k2, k3
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import (
    cispo,
    clipped,
    dual_clipped,
    gspo_token,
    importance_weighted,
    rollout_is,
    sapo,
)

ESTIMATORS = {
    "grpo": slot(group_normalized, ddof=1, eps=1e-6, keep_singletons=True),
    "rloo": slot(leave_one_out),
    "reinforce++": slot(discounted),
    "maxrl": slot(mean_scaled, eps=1e-6, keep_singletons=True, keep_negative=True),
}
PENALTIES = {
    "k1": slot(k1),
    "abs": slot(absolute),
    "k2": slot(k2),
    "k3": slot(k3, max_log_ratio=20.0, max_value=10.0),
}
AGGREGATES = {
    "token_mean": slot(token_mean),
    "token_mean_legacy": slot(micro_batch_token_mean, rows=1),
    "sequence_mean": slot(sequence_mean_token_mean),
    "seq_mean_token_sum_norm": slot(fixed_length),
    "prompt_mean": slot(prompt_mean),
}
FREE = ("gspo", "clip_cov", "kl_cov", "importance_sampling")
"""The losses whose log-ratio is not limited to ± 20."""
UNCORRECTED = ("clip_cov", "kl_cov", "importance_sampling")
"""The losses that off_policy_correction does not change."""


def recipe(**config: Any) -> Recipe:
    """Return the recipe that SkyRL computes on one mini-batch.

    Args:
      config: keys of `SkyRLTrainConfig`, with their groups or without.

    Raises:
      ValueError: if a key is unknown, or if SkyRL would refuse a value.

    >>> print(recipe(trainer={"algorithm": {"loss_reduction": "prompt_mean"}}).aggregate)
    prompt_mean
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    check(s)
    penalty: Slot = one_of("kl_estimator_type", s.kl_estimator_type, PENALTIES)
    one_of("policy_loss_type", s.policy_loss_type, dict.fromkeys(s.losses))
    aggregate = _aggregate(s)
    free = s.policy_loss_type in FREE or not s.log_ratio_is_limited
    return Recipe(
        reward=_reward(s),
        keep=_keep(s),
        advantage=_advantage(s, penalty),
        level=sequence_mean_level if s.policy_loss_type == "gspo" else token_level,
        surrogate=_surrogate(s, aggregate),
        penalty=penalty,
        kl_coef=s.kl_loss_coef if _has_penalty(s) else 0.0,
        aggregate=aggregate,
        source=DIALECT.version,
        admit=_admit(s),
        corrections=_corrections(s),
        log_ratio_limits=(-inf, inf) if free else (-20.0, 20.0),
        penalty_aggregate=_penalty_aggregate(s),
    )


def _reward(s: Settings) -> Slot:
    """Return the length penalty of the DAPO example, if one of its keys is given."""
    length, factor = s.overlong_buffer_len, s.overlong_buffer_penalty_factor
    if length is None and factor is None:
        return slot(zero_if_cut_off if s.zero_reward_on_non_stop else task_reward)
    return slot(
        overlong_in_tokens,
        buffer=512 if length is None else length,
        budget=s["sampling_params.max_generate_length"],
        factor=1.0 if factor is None else factor,
    )


def _keep(s: Settings) -> Slot:
    if s["fully_async.enabled"] and s.sample_full_batch:
        return slot(contrasted_groups, tol=s.zero_variance_filter_tol)
    return slot(groups_with_a_std if s["dynamic_sampling.type"] else all_groups)


def _aggregate(s: Settings) -> Slot:
    known = {name: AGGREGATES[name] for name in s.reductions}
    legacy = slot(micro_batch_token_mean, rows=s.micro_train_batch_size_per_gpu)
    known |= {"token_mean_legacy": legacy} if "token_mean_legacy" in known else {}
    known |= {"token_mean": legacy} if s.token_mean_is_of_micro_batches else {}
    known |= {"sequence_mean": slot(turn_token_mean)} if s.step_wise_trajectories else {}
    aggregate: Slot = one_of("loss_reduction", s.loss_reduction, known)
    return aggregate


def _penalty_aggregate(s: Settings) -> Slot | None:
    """Return the average of the penalty, which is per completion for any loss."""
    own = _has_penalty(s) and s.loss_reduction != "sequence_mean"
    per_sequence = slot(turn_token_mean) if s.step_wise_trajectories else AGGREGATES["sequence_mean"]
    return per_sequence if own else None


def _has_penalty(s: Settings) -> bool:
    """Return true if the loss has a KL with a gradient."""
    return bool(s.use_kl_loss and s.kl_loss_has_gradient)


def _admit(s: Settings) -> Slot:
    """Return the filter of completions."""
    tol = {"tol": s.zero_variance_filter_tol}
    if s.apply_overlong_filtering:
        return slot(ended_and_contrasted, **tol) if s.zero_variance_filter else slot(ended_completions)
    return slot(contrasted, **tol) if s.zero_variance_filter else slot(all_completions)


def _advantage(s: Settings, penalty: Slot) -> Slot:
    """Return the estimator, with the penalty in the reward if there is one, and the normalization around both."""
    known = {name: ESTIMATORS[name] for name in s.estimators}
    alone: Slot = one_of("advantage_estimator", s.advantage_estimator, known)
    returns, coef = s.advantage_estimator == "reinforce++", max(0.0, s.kl_loss_coef)
    if s.advantage_estimator == "grpo" and not s.grpo_norm_by_std:
        alone = slot(group_centered, keep_singletons=True)
    if returns:
        alone = slot(discounted, gamma=s.gamma)
    in_reward = s.use_kl_in_reward and coef > 0.0
    if in_reward and returns:
        alone = slot(returned_with_penalty, penalty=penalty, kl_coef=coef, gamma=s.gamma)
    elif in_reward:
        alone = slot(penalized, scores=alone, penalty=penalty, kl_coef=coef)
    if not s.advantage_batch_normalize:
        return alone
    return slot(normalized_with_padding_after_penalty if in_reward else normalized_with_padding, scores=alone)


def _surrogate(s: Settings, aggregate: Slot) -> Slot:
    clips = {"clip_low": min(s.eps_clip_low, NO_CLIP_LOW), "clip_high": s.eps_clip_high}
    bounds = {
        "min_ratio": max(0.0, 1.0 - s.cispo_eps_clip_low),
        "max_ratio": 1.0 + s.cispo_eps_clip_high,
    }
    covariance = {
        "aggregate": aggregate,
        "rows": s.micro_train_batch_size_per_gpu,
        "share": s["clip_cov.clip_ratio"],
        "cov_low": s.clip_cov_lb,
        "cov_high": s.clip_cov_ub,
    }
    match s.policy_loss_type:
        case "regular":
            return slot(clipped, **clips)
        case "dual_clip":
            return slot(dual_clipped, **clips, max_ratio=s.clip_ratio_c)
        case "gspo":
            return slot(gspo_token, **clips, max_log_ratio=10.0)
        case "cispo":
            return slot(cispo if s.cispo_anchor == "old" else cispo_against_sampler, **bounds)
        case "rollout_is":
            return slot(rollout_is, clip_low=s.eps_clip_low, clip_high=s.eps_clip_high)
        case "dppo":
            kernels = {"binary_tv": dppo_tv_against_sampler, "binary_kl": dppo_kl_against_sampler}
            return slot(kernels[s.dppo_type], low=s.delta_low, high=s.delta_high)
        case "clip_cov":
            return slot(clip_cov_of_scaled, **covariance, **clips)
        case "kl_cov":
            parts = {"aggregate": aggregate, "rows": s.micro_train_batch_size_per_gpu}
            return slot(kl_cov_of_scaled, **parts, share=s.kl_cov_frac, coef=s.ppo_kl_coef)
        case "sapo":
            return slot(sapo, tau_positive=s.tau_pos, tau_negative=s.tau_neg)
    return slot(importance_weighted)


def _corrections(s: Settings) -> tuple[Slot, ...]:
    """Return the weights of the loss. A correction per completion ignores the tokens outside the window."""
    kind, cap = s.tis_ratio_type, s.token_tis_ratio_clip_high
    if s.use_tis:
        kind, cap = "token", s.tis_imp_ratio_cap
    asked = kind is not None or s.sequence_mask_metric is not None
    silent = s["sampling_params.logprobs"] is None and not asked
    if silent or s.policy_loss_type in UNCORRECTED:
        return ()
    parts = [*_of_tokens(s, kind, cap), *(_seen(s, part) for part in _of_completions(s, kind))]
    return tuple(parts)


def _of_tokens(s: Settings, kind: str | None, cap: float) -> list[Slot]:
    low, high = s.outlier_token_is_threshold_low, s.outlier_token_is_threshold_high
    parts = []
    if low is not None or high is not None:
        bounds = {"min_ratio": low or 0.0, "max_ratio": inf if high is None else high}
        parts.append(slot(without_outliers, **bounds, max_log_ratio=20.0))
    if _window(s):
        parts.append(slot(indicator, **_window(s), max_log_ratio=20.0, unknown=nan))
    if kind == "token":
        parts.append(slot(truncated, max_ratio=cap, max_log_ratio=20.0, unknown=nan))
    return parts


def _of_completions(s: Settings, kind: str | None) -> list[Slot]:
    limits = {"max_log_ratio": 20.0, "unknown": nan}
    parts = []
    if kind == "sequence":
        cap = s.sequence_tis_ratio_clip_high
        parts.append(slot(truncated, level=sequence_sum_level, max_ratio=cap, **limits))
    if s.sequence_mask_metric == "geometric":
        window = {"min_ratio": s.geo_mask_low, "max_ratio": s.geo_mask_high}
        parts.append(slot(indicator, level=sequence_mean_level, **window, **limits))
    if s.sequence_mask_metric == "product":
        window = {"min_ratio": s.product_mask_low, "max_ratio": s.product_mask_high}
        parts.append(slot(indicator, level=sequence_sum_level, **window, **limits))
    return parts


def _window(s: Settings) -> dict[str, float]:
    """Return the window for single tokens, which needs both bounds."""
    low, high = s.token_mask_is_threshold_low, s.token_mask_is_threshold_high
    return {} if low is None or high is None else {"min_ratio": max(low, 0.0), "max_ratio": high}


def _seen(s: Settings, part: Slot) -> Slot:
    """Return the part, restricted to the remaining tokens."""
    return slot(of_what_is_left, part=part, **_window(s)) if _window(s) else part


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        check_run=check_run,
        averages=lambda s: Averages(
            "a mini-batch (policy_mini_batch_size prompts), all ranks and micro-batches together", over="step"
        ),
        phrases=PHRASES,
        forms=FORMS,
    ),
    TRAPS,
)
