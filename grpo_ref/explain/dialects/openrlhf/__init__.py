"""OpenRLHF 0.11.2 (September 2026), `PolicyLoss` and the experience maker."""

from grpo_ref.explain.dialects.openrlhf.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
