"""Phrases for Open Instruct's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.dialects.open_instruct.kernels import groups_with_std, rho_clamp, rho_window, vaco_mask
from grpo_ref.explain.phrases import PHRASES as COMMON
from grpo_ref.explain.phrases import Kernel, Phrase

PHRASES: Mapping[Kernel, Phrase] = {
    rho_clamp: "{max_ratio:inf=|truncated }importance weights against the sampler {level}, {within}",
    rho_window: COMMON["indicator"],
    vaco_mask: "VACO's mask where a completion's mean |ratio - 1| to the sampler is outside"
    " [{min_divergence}, {max_divergence}]",
    groups_with_std: COMMON["mixed_groups"],
}
