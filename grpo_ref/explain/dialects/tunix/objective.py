"""The objective of Tunix: the meaning of its keys, and the recipe that they give."""

import math
from math import sqrt
from typing import Any

from grpo_ref.advantages import group_centered, group_normalized, leave_one_out
from grpo_ref.aggregation import (
    fixed_length,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
)
from grpo_ref.corrections import truncated
from grpo_ref.explain.bounds import clipped_as_given
from grpo_ref.explain.dialect import NO_CLIP_LOW, Averages, Objective, one_of
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.tunix.kernels import LARGEST, mean_of_limited, punished_by_characters
from grpo_ref.explain.dialects.tunix.keys import (
    SINCE,
)
from grpo_ref.explain.dialects.tunix.phrases import PHRASES
from grpo_ref.explain.dialects.tunix.refusals import check, overlong
from grpo_ref.explain.dialects.tunix.traps import TRAPS
from grpo_ref.explain.groups_of_one import without_a_sibling
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_completions, all_groups, ended_completions
from grpo_ref.levels import sequence_mean_level, token_level
from grpo_ref.penalties import k1, k2, k3
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import soft_overlong, task_reward
from grpo_ref.surrogates import clipped, gspo_token, two_sided_clipped

AGGREGATES = {
    "token-mean": slot(token_mean),
    "sequence-mean-token-mean": slot(sequence_mean_token_mean, count_empty=False),
    "sequence-mean-token-scale": slot(fixed_length, count_empty=False),
    "seq-mean-token-sum": slot(sequence_mean_token_sum, count_empty=False),
    "sequence-mean-token-sum-norm": slot(sequence_mean_token_sum),
}
OLD_AGGREGATES = {
    "token-mean": slot(token_mean),
    "sequence-mean-token-mean": slot(sequence_mean_token_mean),
    "sequence-mean-token-scale": slot(fixed_length),
    "sequence-mean-token-sum-norm": slot(sequence_mean_token_sum),
}
"""Averages before 0.1.7, where a completion without tokens counts."""
BY_ALGORITHM = {"grpo": "token-mean", "gspo-token": "sequence-mean-token-mean"}
"""Average of the loss by algorithm, before loss_agg_mode existed."""


def recipe(**config: Any) -> Recipe:
    """Return the recipe that Tunix computes.

    Args:
      config: the fields of its configurations, with or without the sections of its command line.

    Raises:
      ValueError: if a key is unknown, or if Tunix would refuse a value.

    >>> print(recipe(config_class="DAPOConfig").surrogate)
    clipped(clip_low=0.2, clip_high=0.28)
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    check(s)
    by_sequence = s.loss_algo == "gspo-token"
    limit = LARGEST if s.since == SINCE else math.inf
    limited = not math.isinf(limit)
    return Recipe(
        reward=_reward(s),
        keep=slot(all_groups),
        advantage=_advantage(s),
        level=(mean_of_limited if limited else sequence_mean_level) if by_sequence else token_level,
        surrogate=_surrogate(s, by_sequence),
        penalty=_penalty(s),
        kl_coef=s.beta or 0.0,
        aggregate=_aggregate(s),
        source=DIALECT.version,
        corrections=_corrections(s),
        admit=slot(ended_completions if s.overlong_filter else all_completions),
        log_ratio_limits=(-math.inf, math.inf) if by_sequence else (-limit, limit),
    )


def _reward(s: Settings) -> Slot:
    told = overlong(s)
    if not told:
        return slot(task_reward)
    return slot(
        punished_by_characters,
        budget=told["max_response_length"],
        tail=told["overlong_buffer_length"],
        factor=told["overlong_buffer_penalty"],
    )


def _advantage(s: Settings) -> Slot:
    if s.advantage_estimator != "grpo":
        return slot(leave_one_out if s.advantage_estimator == "rloo" else group_centered)
    if s.num_generations == 1:
        return slot(without_a_sibling)
    return slot(group_normalized, ddof=1, eps=1e-6 if s.since == SINCE else 1e-4)


def _surrogate(s: Settings, by_sequence: bool) -> Slot:
    low, high = s.epsilon, s.epsilon if s.epsilon_high is None else s.epsilon_high
    if by_sequence:
        return slot(gspo_token, clip_low=min(low, NO_CLIP_LOW), clip_high=high, max_log_ratio=10.0)
    if low < 0.0 or high < 0.0:
        return slot(clipped_as_given, clip_low=low, clip_high=high)
    return slot(clipped, clip_low=min(low, NO_CLIP_LOW), clip_high=high)


def _penalty(s: Settings) -> Slot:
    """Return the estimator with its value limited to kl_clamp_value.

    For k1 and k2, this limits the log-ratio.
    """
    limit = s.kl_clamp_value
    if s.kl_loss_mode == "low_var_kl":
        return slot(k3) if limit is None else slot(k3, max_value=limit)
    if s.kl_loss_mode == "mse_kl":
        return slot(k2) if limit is None else slot(k2, max_log_ratio=sqrt(2.0 * limit))
    return slot(k1) if limit is None else slot(k1, max_log_ratio=limit)


def _aggregate(s: Settings) -> Slot:
    mode = BY_ALGORITHM[s.loss_algo] if s.loss_agg_mode is None else s.loss_agg_mode
    found: Slot = one_of("loss_agg_mode", mode, AGGREGATES if s.since == SINCE else OLD_AGGREGATES)
    return found


def _corrections(s: Settings) -> tuple[Slot, ...]:
    if s.sampler_is != "token" or not s.use_rollout_logps:
        return ()
    return (slot(truncated, max_ratio=s.sampler_is_threshold, max_log_ratio=LARGEST, unknown=math.nan),)


NEW_IN_017 = frozenset(
    """kl_loss_mode kl_clamp_value use_rollout_logps sampler_is sampler_is_threshold
    rl_training_config.max_seq_token_per_tpu""".split()
)
NEW_IN_014 = frozenset(
    """loss_agg_mode advantage_estimator policy_loss_fn epsilon_high config_class training_mode
    overlong_filter""".split()
)
OLD = {"since": "0.1.0", "kl_loss_mode": "low_var_kl"}
DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        averages=lambda s: Averages("a mini-batch, all devices and micro-batches together", over="step"),
        phrases=PHRASES,
        forms={
            mean_of_limited: sequence_mean_level,
            punished_by_characters: soft_overlong,
            clipped_as_given: two_sided_clipped,
            without_a_sibling: group_normalized,
        },
    ),
    TRAPS,
)
