"""Phrases for prime-rl's own kernels."""

from collections.abc import Mapping

from grpo_ref.explain.dialects.prime_rl.kernels import (
    gated_groups,
    length_penalized,
    of_any_advantage,
    probability_gated,
    symmetrically_gated,
    unless_fallen,
)
from grpo_ref.explain.phrases import Kernel, Phrase

PULL = (
    "<, advantages times {scale}>{pull:0.0=|0=|, less a KL penalty {pull} to the sampler (squared log-ratio)}"
)
PHRASES: Mapping[Kernel, Phrase] = {
    probability_gated: f"DPPO's mask by total variation, {{low}}/{{high}}{PULL}",
    symmetrically_gated: f"the plain ratio, 0 where a probability has moved by more than {{threshold}}{PULL}",
    unless_fallen: "the plain ratio, 0 where a probability has fallen by more than {most}"
    "{pull:0.0=|, less a KL penalty {pull} to the sampler (squared log-ratio)}",
    length_penalized: "advantages centred within groups{group}, length penalised by {output} of the mean"
    " reward",
    of_any_advantage: "completions with advantage 0 dropped",
    gated_groups: "groups with all advantages in {ranges} resampled",
}
