"""The objective of RLinf: the meaning of its keys, and the recipe that they give."""

from math import inf, nan
from typing import Any

from grpo_ref.advantages import group_normalized, normalized_twice, raw_rewards, whitened
from grpo_ref.aggregation import sequence_mean_token_mean, sequence_mean_token_sum, token_mean
from grpo_ref.corrections import early_stop, masked, truncated
from grpo_ref.explain.dialect import NO_CLIP_LOW, Averages, NotExpressed, Objective, one_of
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.common.averages import EACH_MICRO_BATCH
from grpo_ref.explain.dialects.rlinf.kernels import (
    behaviour_weight,
    mean_below,
    nan_where_empty,
    normalized_thrice,
    reinpp,
    reinpp_with_kl,
    standardized_tokens,
    swapped,
    unless_first_is_empty,
    unless_stopped,
    weighed_unless_first_is_empty,
)
from grpo_ref.explain.dialects.rlinf.keys import (
    NO_OBJECTIVE,
    OF_OTHER_ACTORS,
    OTHER_TASKS,
)
from grpo_ref.explain.dialects.rlinf.phrases import PHRASES
from grpo_ref.explain.dialects.rlinf.traps import TRAPS
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_groups
from grpo_ref.levels import token_level
from grpo_ref.penalties import absolute, k1, k2, k3
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import clipped, dual_clipped

AGGREGATES = {
    "token-mean": slot(token_mean),
    "seq-mean-token-sum": slot(sequence_mean_token_sum),
    "seq-mean-token-mean": slot(nan_where_empty),
}
PENALTIES = {
    "kl": slot(k1),
    "k1": slot(k1),
    "abs": slot(absolute),
    "mse": slot(k2),
    "k2": slot(k2),
    "low_var_kl": slot(k3, max_log_ratio=20.0, max_value=10.0),
    "k3": slot(k3, max_log_ratio=20.0, max_value=10.0),
}
AGAIN: dict[str, dict[str, Any]] = {"fsdp": {"again": (0,)}, "megatron": {"again": (1, 0), "holes": True}}
"""Settings of the standardization over tokens that `normalize_advantages` adds, by actor."""
SYMMETRIC = (absolute, k2)
"""Penalties that do not change if their arguments are swapped."""
TASKS = ("reasoning", "coding_online_rl")
DECOUPLED = "decoupled_actor_critic"
OF_DECOUPLED = {"runner.task_type": "embodied", "actor.training_backend": "fsdp"}
"""The only actor that has this loss."""


def recipe(**config: Any) -> Recipe:
    """Return the recipe that RLinf computes.

    Args:
      config: keys of the group `algorithm`, with it or without; and `actor.training_backend`.

    Raises:
      ValueError: if a key is unknown, or if RLinf would refuse a value.

    >>> print(recipe(ratio_clip_eps=0.1, clip_ratio_c=None).surrogate)
    clipped(clip_low=0.1, clip_high=0.1)
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    backend = s["actor.training_backend"]
    one_of("actor.training_backend", backend, {"megatron": 0, "fsdp": 0})
    _check_type("loss_type", s.loss_type, ("actor", DECOUPLED))
    _check_task(s, s["runner.task_type"], backend)
    _check_type("adv_type", s.adv_type, ("grpo", "raw", "gae", "reinpp"))
    decoupled = s.loss_type == DECOUPLED
    corrections = _corrections(s, backend)
    return Recipe(
        reward=slot(task_reward),
        keep=slot(all_groups),
        advantage=_advantage(s, backend),
        level=token_level,
        surrogate=_surrogate(s),
        penalty=_penalty(s, backend),
        kl_coef=0.0 if decoupled else max(s.kl_beta, 0.0),
        aggregate=_aggregate(s),
        source=DIALECT.version,
        corrections=corrections,
        log_ratio_limits=(-inf, inf) if decoupled else _limits(s),
        penalty_aggregate=None if decoupled else _penalty_aggregate(s, corrections),
    )


def _check_task(s: Settings, task: str, backend: str) -> None:
    """Raise a ValueError for tasks with other actors, and for the decoupled loss in an actor that lacks it."""
    if s.loss_type == DECOUPLED:
        if (task, backend) != ("embodied", "fsdp"):
            raise ValueError(
                f"loss_type: {DECOUPLED} is of the asynchronous actor, runner.task_type embodied with FSDP; RLinf"
                " refuses it in the actors for language models, which do not give it a critic's values"
            )
    elif task not in TASKS:
        told = OTHER_TASKS.get(task, NO_OBJECTIVE)
        raise ValueError(f"runner.task_type: {task!r} cannot be expressed here. {told}")
    if task == "coding_online_rl" and backend != "megatron":
        raise ValueError("actor.training_backend: coding_online_rl must use megatron")


def _check_type(key: str, value: str, known: tuple[str, ...]) -> None:
    """Raise a ValueError for losses and advantages that RLinf does not have or no recipe can express."""
    if value in OF_OTHER_ACTORS:
        raise NotExpressed(key, value, OF_OTHER_ACTORS[value])
    one_of(key, value, dict.fromkeys(known))


def _surrogate(s: Settings) -> Slot:
    """Return a clip on both sides, and a second one for bad tokens unless `clip_ratio_c` is None."""
    low = s.ratio_clip_eps if s.clip_ratio_low is None else s.clip_ratio_low
    high = s.ratio_clip_eps if s.clip_ratio_high is None else s.clip_ratio_high
    low = min(low, NO_CLIP_LOW)
    if s.clip_ratio_c is None or not s.has_dual_clip:
        return slot(clipped, clip_low=low, clip_high=high)
    return slot(dual_clipped, clip_low=low, clip_high=high, max_ratio=s.clip_ratio_c)


def _limits(s: Settings) -> tuple[float, float]:
    low = -inf if s.clip_log_ratio_min is None else s.clip_log_ratio_min
    return low, inf if s.clip_log_ratio_max is None else s.clip_log_ratio_max


def _penalty(s: Settings, backend: str) -> Slot:
    """Return the penalty.

    The FSDP actor swaps its arguments, and so did the Megatron actor until September 2025. Without a weight above 0, its kind is not read.
    """
    kinds = PENALTIES if s.kl_beta > 0.0 else {s.kl_penalty_type: PENALTIES["low_var_kl"]} | PENALTIES
    estimator: Slot = one_of("kl_penalty_type", s.kl_penalty_type, kinds)
    is_swapped = backend == "fsdp" or s.swaps_penalty
    if not is_swapped or estimator.kernel in SYMMETRIC:
        return estimator
    return slot(swapped, estimator=estimator)


def _advantage(s: Settings, backend: str) -> Slot:
    """Return the estimator, standardized by `normalize_advantages` once with FSDP, twice with Megatron."""
    again: dict[str, Any] = AGAIN[backend] if s.normalize_advantages else {}
    if s.adv_type == "reinpp":
        return _reinpp(s, again, backend)
    if s.adv_type == "grpo":
        return _grpo(s, len(again.get("again", ())))
    if s.adv_type == "gae" and s["critic.use_critic_model"]:
        raise ValueError(
            "critic.use_critic_model: advantages from a critic's values cannot be expressed here"
        )
    if s.adv_type == "gae" and backend == "fsdp":
        again = {"again": (1, *again.get("again", ()))}
    return slot(standardized_tokens, **again) if again else slot(raw_rewards)


def _grpo(s: Settings, times: int) -> Slot:
    if not s.group_size > 1:
        raise ValueError(f"group_size: expected more than 1 for grpo, got {s.group_size}")
    kernels = (
        slot(group_normalized, ddof=1, eps=1e-6),
        slot(normalized_twice, ddof=1, eps=1e-6, token_ddof=0, token_eps=1e-5),
        slot(normalized_thrice, ddof=1, eps=1e-6, token_eps=1e-5),
    )
    return kernels[times]


def _reinpp(s: Settings, again: dict[str, Any], backend: str) -> Slot:
    if s.use_reinpp_baseline:
        raise ValueError("use_reinpp_baseline: True ends in an IndexError: its rewards lose an axis")
    if not s.reinpp_kl_beta > 0.0:
        return slot(reinpp, **again)
    estimator = one_of("kl_penalty_type", s.kl_penalty_type, PENALTIES)
    costs = {} if backend == "megatron" else {"tokens_only": False}
    return slot(reinpp_with_kl, kl_coef=s.reinpp_kl_beta, estimator=estimator, **costs, **again)


def _aggregate(s: Settings) -> Slot:
    """Return the average.

    The decoupled loss has one; its threshold on the weights removes tokens from the denominator.
    """
    kernel: Slot = one_of("loss_agg_func", s.loss_agg_func, AGGREGATES)
    threshold = s.behave_weight_threshold
    if s.loss_type == DECOUPLED:
        return slot(token_mean) if threshold is None else slot(mean_below, max_ratio=threshold)
    return kernel


def _looks_at_first(s: Settings) -> bool:
    """Return true if the first completion of a micro-batch decides whether others count."""
    return bool(s.looks_at_first and s.training_batch_size_per_gpu > 1)


def _corrections(s: Settings, backend: str) -> tuple[Slot, ...]:
    """Return the weights for the sampler's mismatch, and the two ways to exclude a whole micro-batch."""
    if s.loss_type == DECOUPLED:
        threshold = inf if s.behave_weight_threshold is None else s.behave_weight_threshold
        return (slot(behaviour_weight, max_ratio=threshold),)
    parts, looks = [], _looks_at_first(s)
    if s.importance_sampling_fix:
        weights = slot(truncated, max_ratio=s.importance_sampling_clip, unknown=nan)
        parts.append(slot(weighed_unless_first_is_empty, weights=weights) if looks else weights)
    elif looks:
        parts.append(slot(unless_first_is_empty))
    if s.early_stop_imp_ratio is not None and backend == "megatron":
        parts.append(slot(early_stop, max_ratio=s.early_stop_imp_ratio))
    return tuple(parts)


def _penalty_aggregate(s: Settings, corrections: tuple[Slot, ...]) -> Slot | None:
    """Return the average of the penalty and of the bonus; None if it is that of the surrogate.

    An early stop applies to them too, but an empty micro-batch does not exclude them.
    """
    kernels = [part.kernel for part in corrections]
    average, after_empty = AGGREGATES[s.loss_agg_func], _looks_at_first(s)
    plain = slot(nan_where_empty, first_counts=False) if average.kernel is nan_where_empty else average
    if not (s.kl_beta > 0.0 or s.entropy_bonus):
        return None
    if early_stop in kernels:
        more = {"after_empty": True} if after_empty else {}
        return slot(unless_stopped, aggregate=plain, max_ratio=s.early_stop_imp_ratio, **more)
    return None if plain is average else plain


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        averages=lambda s: (
            Averages("all tokens of the batch, ranks and micro-batches together", over="step")
            if s.use_valid_token_scale
            else EACH_MICRO_BATCH
        ),
        phrases=PHRASES,
        forms={
            nan_where_empty: sequence_mean_token_mean,
            mean_below: token_mean,
            normalized_twice: group_normalized,
            normalized_thrice: group_normalized,
            standardized_tokens: whitened,
            reinpp: whitened,
            behaviour_weight: masked,
        },
    ),
    TRAPS,
)
