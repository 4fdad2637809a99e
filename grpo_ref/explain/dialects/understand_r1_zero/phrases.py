"""Phrases for understand-r1-zero's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.bounds import clipped_as_given
from grpo_ref.explain.dialects.understand_r1_zero.kernels import penalized, zero_if_cut_off
from grpo_ref.explain.groups_of_one import without_a_sibling
from grpo_ref.explain.phrases import Kernel, Phrase

PHRASES: Mapping[Kernel, Phrase] = {
    clipped_as_given: "PPO-clip {clip_low}/{clip_high}< with every ratio capped at {max_ratio}>",
    penalized: "KL {kl_coef} (k1, summed over tokens) subtracted from the reward, then {scores}",
    without_a_sibling: "advantages of NaN, as a single completion has no std",
    zero_if_cut_off: "truncated completions get reward 0<, all others theirs times {scale}>",
}
