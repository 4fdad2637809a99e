"""Phrases for Tunix's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.bounds import clipped_as_given
from grpo_ref.explain.dialects.tunix.kernels import mean_of_limited, punished_by_characters
from grpo_ref.explain.groups_of_one import without_a_sibling
from grpo_ref.explain.phrases import Kernel, Phrase

PHRASES: Mapping[Kernel, Phrase] = {
    mean_of_limited: "per sequence (length-normalised)",
    punished_by_characters: "a length penalty over the last {tail} of {budget} characters, weight {factor}",
    clipped_as_given: "a clip of the ratio with half-widths {clip_low}/{clip_high} as given",
    without_a_sibling: "advantages of NaN, as a single completion has no std",
}
