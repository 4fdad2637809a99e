"""Phrases for the Tinker cookbook's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.bounds import clipped_as_given
from grpo_ref.explain.dialects.tinker.kernels import centered_less_kl
from grpo_ref.explain.phrases import Kernel, Phrase

PHRASES: Mapping[Kernel, Phrase] = {
    centered_less_kl: "advantages centred within groups{group}, not divided by a std, less {kl_coef} times each token's KL"
    " (k1, centred over the batch)",
    clipped_as_given: "a clip of the ratio with half-widths {clip_low}/{clip_high} as given",
}
