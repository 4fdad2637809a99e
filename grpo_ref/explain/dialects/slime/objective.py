"""The objective of slime: the meaning of its keys, and the recipe that they give."""

from math import nan
from typing import Any

from grpo_ref.advantages import (
    discounted,
    group_centered,
    group_normalized,
    raw_rewards,
    whitened,
    with_teacher,
)
from grpo_ref.aggregation import sequence_mean_token_mean, token_mean
from grpo_ref.corrections import masked, off_policy_mask_since_update, truncated
from grpo_ref.explain.dialect import NO_CLIP_LOW, Objective
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.common.averages import WHOLE_STEP
from grpo_ref.explain.dialects.slime.kernels import (
    mismatch_weights,
    only_kept,
    spread_above,
    token_mean_of_any,
    weighted_estimate,
    whitened_returns,
    whitened_returns_less_penalty,
    whitened_scores,
    whitened_scores_less_penalty,
    whitened_with_teacher,
)
from grpo_ref.explain.dialects.slime.phrases import PHRASES
from grpo_ref.explain.dialects.slime.refusals import (
    LOSS,
    MISMATCH,
    bounds_of,
    check,
    check_run,
)
from grpo_ref.explain.dialects.slime.traps import TRAPS
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_groups, mixed_groups
from grpo_ref.levels import sequence_mean_level, token_level
from grpo_ref.penalties import k1, k2, k3, weighted_k3
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import cispo, clipped, dual_clipped

PENALTIES = {"k1": slot(k1), "k2": slot(k2), "k3": slot(k3), "low_var_kl": slot(k3, max_value=10.0)}
BY_GROUP = ("grpo", "gspo", "cispo")
"""The estimators that compare the completions of a group and may be divided by its spread."""


def recipe(**config: Any) -> Recipe:
    """Return the recipe that slime computes.

    Args:
      config: flags of `train.py`, with underscores or hyphens. A flag without a value is True. slime's own
        default of n_samples_per_prompt is 1, here it is 8.

    Raises:
      ValueError: if a key is unknown, if slime would refuse a value, or if no recipe here can express it.

    >>> print(recipe(eps_clip_high=0.28).surrogate)
    clipped(clip_low=0.2, clip_high=0.28)
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    check(s)
    filtered = s.dynamic_sampling_filter_path is not None
    return Recipe(
        reward=slot(task_reward),
        keep=slot(spread_above) if filtered else slot(all_groups),
        advantage=_advantage(s),
        level=sequence_mean_level if s.advantage_estimator == "gspo" else token_level,
        surrogate=_surrogate(s),
        penalty=_penalty(s),
        kl_coef=s.kl_loss_coef if s.use_kl_loss else 0.0,
        aggregate=slot(token_mean_of_any if s.calculate_per_token_loss else sequence_mean_token_mean),
        source=DIALECT.version,
        corrections=_corrections(s),
        penalty_aggregate=slot(only_kept, per_token=s.calculate_per_token_loss) if _leaves_out(s) else None,
        distill=_distill(s),
    )


def _advantage(s: Settings) -> Slot:
    """Return the advantage: the comparison in the group, then the KL in the reward, and the whitening over tokens."""
    penalized = {"penalty": PENALTIES[s.kl_loss_type], "kl_coef": s.kl_coef}
    if s.advantage_estimator == "reinforce_plus_plus":
        if s.kl_coef == 0:
            return slot(whitened_returns, gamma=s.gamma)
        return slot(whitened_returns_less_penalty, **penalized, gamma=s.gamma)
    scores = _scores(s)
    if not s.normalize_advantages or s.use_opd:  # with a teacher, the whitening comes after its share
        return scores
    if s.advantage_estimator in BY_GROUP or s.kl_coef == 0:
        return slot(whitened_scores, scores=scores)
    return slot(whitened_scores_less_penalty, scores=scores, **penalized)


def _distill(s: Settings) -> Slot | None:
    """Return the share of the teacher, which is added before the whitening."""
    if not s.use_opd:
        return None
    return slot(whitened_with_teacher if s.normalize_advantages else with_teacher, coef=s.opd_kl_coef)


def _scores(s: Settings) -> Slot:
    """Return the part that normalizes the rewards before they are sent to the actor."""
    if s.disable_rewards_normalization or not s.rewards_normalization:
        return slot(raw_rewards)
    by_spread = s.grpo_std_normalization and not s.disable_grpo_std_normalization
    if by_spread and s.advantage_estimator in BY_GROUP and s.n_samples_per_prompt > 1:
        return slot(group_normalized, ddof=1, eps=1e-6)
    return slot(group_centered)


def _surrogate(s: Settings) -> Slot:
    low, high = s.eps_clip, s.eps_clip if s.eps_clip_high is None else s.eps_clip_high
    if s.advantage_estimator == "cispo":
        return slot(cispo, min_ratio=max(1.0 - low, 0.0), max_ratio=1.0 + high)
    clips = {"clip_low": min(low, NO_CLIP_LOW), "clip_high": high}
    if s.eps_clip_c is None or not s.dual_clip_is_passed:
        return slot(clipped, **clips)
    return slot(dual_clipped, **clips, max_ratio=s.eps_clip_c)


def _penalty(s: Settings) -> Slot:
    if not s.use_unbiased_kl:
        return PENALTIES[s.kl_loss_type]
    if s.kl_loss_type == "low_var_kl":
        return slot(weighted_estimate, estimator="k3", max_value=10.0)
    return slot(weighted_estimate, estimator=s.kl_loss_type)


def _leaves_out(s: Settings) -> bool:
    """Return true if the function of slime's examples excludes tokens from the whole loss."""
    return bool(s.use_tis and s.custom_tis_function_path == MISMATCH and (s.use_rs or s.tis_mode == "mask"))


def _mismatch(s: Settings) -> Slot:
    window, rejection = bounds_of(s)
    told: dict[str, Any] = {"reject": (s.rs_level, *rejection)} if s.use_rs else {}
    if s.use_rs and s.rs_veto_threshold is not None:
        told["veto"] = s.rs_veto_threshold
    if s.tis_batch_normalize:
        told["normalized"] = True
    return slot(mismatch_weights, level=s.tis_level, mode=s.tis_mode, window=window, **told)


def _corrections(s: Settings) -> tuple[Slot, ...]:
    moved = (slot(off_policy_mask_since_update, threshold=s.opsm_delta),) if s.use_opsm else ()
    if not (s.use_tis or s.get_mismatch_metrics):
        return moved
    if s.custom_tis_function_path == MISMATCH:
        return (_mismatch(s),) if s.use_tis else moved
    icepop = s.custom_tis_function_path == f"{LOSS}.icepop_function"
    kernel = masked if icepop else truncated
    return (*moved, slot(kernel, min_ratio=s.tis_clip_low, max_ratio=s.tis_clip, unknown=nan))


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        check_run=check_run,
        averages=lambda s: WHOLE_STEP,
        phrases=PHRASES,
        forms={
            token_mean_of_any: token_mean,
            spread_above: mixed_groups,
            mismatch_weights: truncated,
            weighted_estimate: weighted_k3,
            whitened_scores: whitened,
            whitened_scores_less_penalty: whitened,
            whitened_returns: discounted,
            whitened_returns_less_penalty: discounted,
            whitened_with_teacher: with_teacher,
        },
    ),
    TRAPS,
)
