"""The objective of ms-swift: the meaning of its keys, and the recipe that they give."""

import math
from typing import Any

from grpo_ref.advantages import (
    batch_scaled,
    group_centered,
    group_normalized,
    leave_one_out,
    normalized_then_summed,
    with_teacher,
)
from grpo_ref.aggregation import fixed_length, sequence_mean_token_mean, token_mean
from grpo_ref.corrections import future_kl, indicator, masked, off_policy_mask, top_entropy, truncated
from grpo_ref.explain.dialect import NO_CLIP_LOW, Averages, Objective, one_of
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.ms_swift.kernels import (
    EPS,
    SMALL,
    centered_then_scaled,
    overlong,
    penalized,
    scaled_up,
)
from grpo_ref.explain.dialects.ms_swift.keys import behaviour_of
from grpo_ref.explain.dialects.ms_swift.losses import (
    LARGEST,
    by_token,
    divided_again,
    fresh_token_mean,
    top_entropy_of_batch,
    weighed_k3,
)
from grpo_ref.explain.dialects.ms_swift.phrases import PHRASES
from grpo_ref.explain.dialects.ms_swift.refusals import (
    OVER_ALL,
    check,
    check_run,
    has_overlong,
    has_teacher,
    names_of,
)
from grpo_ref.explain.dialects.ms_swift.traps import TRAPS
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_completions, all_groups, ended_completions, mixed_groups
from grpo_ref.levels import sequence_mean_level, token_level
from grpo_ref.penalties import k3
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import soft_overlong, task_reward
from grpo_ref.surrogates import (
    cispo,
    clipped,
    dual_clipped,
    gspo_token,
    importance_weighted,
    real,
    sapo,
    two_sided_clipped,
)


def recipe(**config: Any) -> Recipe:
    """Return the recipe that ms-swift computes.

    Args:
      config: arguments of `swift rlhf --rlhf_type grpo`, with underscores or hyphens.

    Raises:
      ValueError: if a key is unknown, or if ms-swift would refuse a value.

    >>> print(recipe(advantage_estimator="rloo").advantage)
    penalized(scores=leave_one_out, kl_coef=0.04)
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    s = s.replaced(loss_type=_single(s.loss_type), beta=_or(s.beta, 0.04))
    one_of("scale_rewards", s.scale_rewards, dict.fromkeys(behaviour_of(s).scales))
    scale = {True: "group", False: "none"}.get(s.scale_rewards, s.scale_rewards)
    s = s.replaced(scale_rewards="none" if s.loss_type == "real" else scale)
    check(s)
    in_reward = _in_reward(s)
    return Recipe(
        reward=_reward(s),
        keep=slot(mixed_groups if s.dynamic_sample else all_groups),
        advantage=slot(penalized, scores=_scores(s), kl_coef=s.beta) if in_reward and s.beta else _scores(s),
        level=token_level
        if s.importance_sampling_level == "token" and s.loss_type != "real"
        else sequence_mean_level,
        surrogate=_surrogate(s),
        penalty=_penalty(s),
        kl_coef=0.0 if in_reward else s.beta,
        aggregate=_aggregate(s),
        source=DIALECT.version,
        admit=slot(ended_completions if s.overlong_filter and not s.use_liger_kernel else all_completions),
        corrections=_corrections(s),
        penalty_aggregate=_token_mean(s) if s.loss_type == "real" and s.beta else None,
        distill=slot(with_teacher, coef=s.teacher_kl_coef) if has_teacher(s) else None,
    )


def _single(loss_type: Any) -> Any:
    """Return the loss type, given as a name or as a list with one name."""
    return loss_type[0] if isinstance(loss_type, list) and len(loss_type) == 1 else loss_type


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _in_reward(s: Settings) -> bool:
    """Return true if the KL is in the reward. gdpo moves it back into the loss."""
    return bool(s.kl_in_reward and s.scale_rewards != "gdpo")


def _reward(s: Settings) -> Slot:
    """Return the length penalty, if it is one of the reward functions and they are summed."""
    if not has_overlong(s.reward_funcs) or s.scale_rewards == "gdpo":
        return slot(task_reward)
    place = names_of(s.reward_funcs).index("soft_overlong")
    weight = 1.0 if s.reward_weights is None else s.reward_weights[place]
    longest = _or(s.soft_max_length, s.max_completion_length)
    return slot(overlong, longest=longest, cache=s.soft_cache_length, weight=weight)


def _scores(s: Settings) -> Slot:
    """Return the part that turns rewards into advantages."""
    scale = s.scale_rewards
    if s.advantage_estimator == "reinforce_plus_plus":
        spreads = {"batch": slot(centered_then_scaled, eps=EPS)}
        kept = slot(group_normalized, ddof=1, eps=EPS) if scale == "group" else slot(group_centered)
        return spreads.get(scale, kept)
    if scale == "gdpo":
        return slot(normalized_then_summed, ddof=1, eps=SMALL)
    others_mean = s.advantage_estimator == "rloo"
    if scale == "none":
        return slot(leave_one_out if others_mean else group_centered)
    kernel = group_normalized if scale == "group" else batch_scaled
    scores = slot(kernel, ddof=1, eps=EPS)
    return slot(scaled_up, scores=scores) if others_mean else scores


def _surrogate(s: Settings) -> Slot:
    by_itself = s.importance_sampling_level == "sequence_token"
    high = _or(s.epsilon_high, s.epsilon)
    if s.loss_type == "cispo":
        return slot(cispo, max_ratio=high)
    if s.loss_type == "real":
        return slot(real, tau=s.real_tau)
    if s.loss_type == "sapo":
        soft = slot(sapo, tau_positive=s.tau_pos, tau_negative=s.tau_neg)
        return slot(by_token, gain=soft) if by_itself else soft
    if s.epsilon is None:
        return slot(importance_weighted)
    clips = {"clip_low": min(s.epsilon, NO_CLIP_LOW), "clip_high": high}
    if s.delta is None:
        return slot(gspo_token if by_itself else clipped, **clips)
    hard = slot(dual_clipped if s.delta >= 1.0 + high else two_sided_clipped, max_ratio=s.delta, **clips)
    return slot(by_token, gain=hard) if by_itself else hard


def _sampler(s: Settings) -> tuple[Slot, ...]:
    """Return the weights for the sampler's mismatch, if vLLM samples."""
    bound = s.rollout_importance_sampling_threshold
    kinds = {
        "token_truncate": (slot(truncated, max_ratio=bound, max_log_ratio=LARGEST, unknown=math.nan),),
        "token_mask": (slot(masked, max_ratio=bound, max_log_ratio=LARGEST, unknown=math.nan),),
        "sequence_truncate": (slot(truncated, max_ratio=bound, **_BY_COMPLETION),),
        "sequence_mask": (
            slot(indicator, max_ratio=bound, **_BY_COMPLETION),
            slot(truncated, max_ratio=math.inf, max_log_ratio=LARGEST, unknown=math.nan),
        ),
    }
    return kinds.get(s.rollout_importance_sampling_mode, ()) if s.use_vllm else ()


_BY_COMPLETION: dict[str, Any] = {
    "level": sequence_mean_level,
    "max_token_log_ratio": LARGEST,
    "unknown": math.nan,
}


def _fresh(s: Settings) -> tuple[Slot, ...]:
    delta = s.off_policy_sequence_mask_delta
    return () if delta is None else (slot(off_policy_mask, threshold=delta, unknown=-math.inf),)


def _corrections(s: Settings) -> tuple[Slot, ...]:
    """Return the weights of the surrogate. REAL uses only the last one."""
    if s.loss_type == "real":
        return _fresh(s)
    share = s.top_entropy_quantile
    future = (_future(s),) if s.loss_type == "fipo" else ()
    entropy = (slot(top_entropy_of_batch, share=share),) if share < 1.0 else ()
    return (*future, *entropy, *_sampler(s), *_fresh(s))


def _future(s: Settings) -> Slot:
    return slot(
        future_kl,
        half_life=s.fipo_decay_rate,
        width=s.fipo_clip_range,
        high_only=s.fipo_clip_high_only,
        max_ratio=_or(s.delta, math.inf),
        safe_ratio=_or(s.fipo_safety_threshold, math.inf),
    )


def _penalty(s: Settings) -> Slot:
    """Return k3. Liger limits neither the log-ratio nor the value, and weights only the surrogate."""
    if s.use_liger_kernel:
        return slot(k3)
    weights = () if s.loss_type == "real" else (*_sampler(s), *_fresh(s))
    limits = {"max_log_ratio": LARGEST, "max_value": 10.0} if behaviour_of(s).is_limited else {}
    return slot(weighed_k3, weights=weights) if weights else slot(k3, **limits)


def _aggregate(s: Settings) -> Slot:
    if s.loss_type in OVER_ALL and not s.use_liger_kernel:
        steps = _or(s.gradient_accumulation_steps, 1) * s.sequence_parallel_size
        return slot(divided_again, steps=steps) if s.divides_twice and steps > 1 else slot(token_mean)
    own = {"bnpo": _token_mean(s), "dr_grpo": slot(fixed_length)} | dict.fromkeys(OVER_ALL, slot(token_mean))
    return own.get(s.loss_type, slot(sequence_mean_token_mean))


def _token_mean(s: Settings) -> Slot:
    """Return the mean over the remaining tokens."""
    delta = s.off_policy_sequence_mask_delta
    return slot(token_mean) if delta is None else slot(fresh_token_mean, threshold=delta)


def _averages(s: Settings) -> Averages:
    """Return the set over which ms-swift averages. A generation batch may be trained on in several steps."""
    if s.loss_type not in OVER_ALL or s.use_liger_kernel:
        return Averages("each micro-batch of each process, and then over these", over="micro-batch")
    is_one_step = s.generation_batch_size is None and s.steps_per_generation in (
        None,
        s.gradient_accumulation_steps,
    )
    return Averages(
        "the generation batch, all processes and micro-batches together",
        over="step" if is_one_step else "other",
    )


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        check_run=check_run,
        averages=_averages,
        phrases=PHRASES,
        forms={
            divided_again: token_mean,
            fresh_token_mean: token_mean,
            weighed_k3: k3,
            top_entropy_of_batch: top_entropy,
            overlong: soft_overlong,
            scaled_up: leave_one_out,
            centered_then_scaled: batch_scaled,
        },
    ),
    TRAPS,
)
