"""Liger's fused loss at ead96b61 (August 2026): the arguments of `LigerFusedLinearGRPOLoss`."""

from grpo_ref.explain.dialects.liger.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
