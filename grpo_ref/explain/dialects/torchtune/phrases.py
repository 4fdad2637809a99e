"""Phrases for torchtune's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.bounds import clipped_as_given
from grpo_ref.explain.dialects.torchtune.kernels import at_ratio_one, batch_sum_level, k3_of_the_batch
from grpo_ref.explain.groups_of_one import without_a_sibling
from grpo_ref.explain.phrases import Kernel, Phrase

PHRASES: Mapping[Kernel, Phrase] = {
    at_ratio_one: "the policy gradient with a ratio that is always 1, without a clip",
    batch_sum_level: "with one ratio for the whole batch (the product of those of all its tokens)",
    k3_of_the_batch: "k3 of the summed log-ratio of the whole batch",
    clipped_as_given: "a clip of the ratio with half-widths {clip_low}/{clip_high} as given",
    without_a_sibling: "advantages of NaN, as a single completion has no std",
}
