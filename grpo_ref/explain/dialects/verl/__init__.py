"""verl at 1dda039b (August 2026), actor, algorithm and rollout-correction settings."""

from grpo_ref.explain.dialects.verl.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
