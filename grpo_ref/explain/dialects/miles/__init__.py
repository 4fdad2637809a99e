"""miles at 31f1ca96 (August 2026), a fork of slime, and where its objective differs."""

from grpo_ref.explain.dialects.miles.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
