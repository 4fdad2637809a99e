"""torchtune at bd2a0fc7c (April 2026), its last months: the losses of `dev.grpo` and `dev.rl` and both recipes."""

from grpo_ref.explain.dialects.torchtune.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
