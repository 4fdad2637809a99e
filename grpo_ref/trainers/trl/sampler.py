"""The weights for the mismatch between vLLM and the learner, from TRL's keys."""

import math
from types import SimpleNamespace

from grpo_ref.kernels.corrections import masked, truncated
from grpo_ref.kernels.levels import sequence_sum_level, token_level
from grpo_ref.recipes import Slot, slot
from grpo_ref.trainers.dialect import one_of

MODES = {
    "token_truncate": (truncated, token_level),
    "token_mask": (masked, token_level),
    "sequence_truncate": (truncated, sequence_sum_level),
    "sequence_mask": (masked, sequence_sum_level),
}
"""The values of `vllm_importance_sampling_mode`."""


def is_corrected(s: SimpleNamespace) -> bool:
    """Whether vLLM samples, and its mismatch is corrected."""
    return bool(s.use_vllm and s.vllm_importance_sampling_correction)


def upper_bound(s: SimpleNamespace) -> float | None:
    """The largest weight, or None; under its old name it goes before the new one."""
    old: float | None = s.vllm_importance_sampling_cap
    new: float | None = s.vllm_importance_sampling_clip_max
    return new if old is None else old


def sampler_weights(s: SimpleNamespace) -> tuple[Slot, ...]:
    """The correction as a part of a recipe, or none.

    Raises:
      ValueError: if the mode is not known.
    """
    if not is_corrected(s):
        return ()
    kernel, level = one_of("vllm_importance_sampling_mode", s.vllm_importance_sampling_mode, MODES)
    low, high = s.vllm_importance_sampling_clip_min, upper_bound(s)
    return (slot(kernel, level=level, min_ratio=low or 0.0, max_ratio=math.inf if high is None else high),)
