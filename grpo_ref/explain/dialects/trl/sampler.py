"""Build the weights for the mismatch between vLLM and the learner from TRL's keys."""

import math

from grpo_ref.arrays import Array, array_namespace
from grpo_ref.corrections import masked, truncated
from grpo_ref.explain.dialect import one_of
from grpo_ref.explain.settings import Settings
from grpo_ref.levels import sequence_sum_level, token_level
from grpo_ref.recipes import Slot, slot

MODES = {
    "token_truncate": (truncated, token_level),
    "token_mask": (masked, token_level),
    "sequence_truncate": (truncated, sequence_sum_level),
    "sequence_mask": (masked, sequence_sum_level),
}
"""The values of `vllm_importance_sampling_mode`."""


def is_corrected(s: Settings) -> bool:
    """Return true if vLLM samples and its mismatch is corrected."""
    return bool(s.use_vllm and s.vllm_importance_sampling_correction)


def upper_bound(s: Settings) -> float | None:
    """Return the largest weight, or None. The old name of the key overrides the new one."""
    old: float | None = s.vllm_importance_sampling_cap
    new: float | None = s.vllm_importance_sampling_clip_max
    return new if old is None else old


def beyond_the_cap(old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, weight: float) -> Array:
    """Return the weights of a cap below 0, which every ratio exceeds: the cap if it truncates, 0 if it masks.

    Args:
      old_log_probs, rollout_log_probs, mask: (P, G, T); only the shape is used.
      weight: the weight of every token.

    TRL `vllm_importance_sampling_clip_max`, which may be any number.
    """
    return array_namespace(old_log_probs).full_like(old_log_probs, weight)


def sampler_weights(s: Settings) -> tuple[Slot, ...]:
    """Return the correction as a part of a recipe; empty if there is none.

    Raises:
      ValueError: if the mode is unknown.
    """
    if not is_corrected(s):
        return ()
    kernel, level = one_of("vllm_importance_sampling_mode", s.vllm_importance_sampling_mode, MODES)
    low, high = s.vllm_importance_sampling_clip_min, upper_bound(s)
    if high is not None and high < 0.0:
        return (slot(beyond_the_cap, weight=high if kernel is truncated else 0.0),)
    least, most = max(low or 0.0, 0.0), math.inf if high is None else high
    return (slot(kernel, level=level, min_ratio=least, max_ratio=most),)
