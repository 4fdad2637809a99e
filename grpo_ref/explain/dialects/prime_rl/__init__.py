"""prime-rl at 559b44772 (August 2026): its algorithms with a group, and `compute_loss` with both of its losses."""

from grpo_ref.explain.dialects.prime_rl.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
