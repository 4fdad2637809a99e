"""The RL training loop of the Tinker cookbook at 9dfcc3a2 (August 2026), with the losses of the Tinker service."""

from grpo_ref.explain.dialects.tinker.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
