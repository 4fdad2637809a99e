"""Phrases for Liger's own kernels, and for those of TRL."""

from collections.abc import Mapping

from grpo_ref.explain.dialects.liger.kernels import given_advantages
from grpo_ref.explain.dialects.trl.phrases import PHRASES as OF_TRL
from grpo_ref.explain.phrases import Kernel, Phrase

PHRASES: Mapping[Kernel, Phrase] = {**OF_TRL, given_advantages: "advantages as the caller computes them"}
