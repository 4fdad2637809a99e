"""Unsloth of October 2026: TRL's `GRPOConfig` with other defaults, and settings that it overrides."""

from grpo_ref.explain.dialects.unsloth.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
