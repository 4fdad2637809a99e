"""Phrases for Trinity-RFT's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.bounds import clipped_as_given
from grpo_ref.explain.dialects.trinity.kernels import opmd
from grpo_ref.explain.phrases import Kernel, Phrase

PHRASES: Mapping[Kernel, Phrase] = {
    opmd: "OPMD's policy gradient, without a ratio, divided by 1 + {tau}",
    clipped_as_given: "a clip of the ratio with half-widths {clip_low}/{clip_high} as given",
}
