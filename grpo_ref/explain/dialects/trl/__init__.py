"""TRL 1.16.0, `GRPOConfig` and `GRPOTrainer`, and the experimental `GMPOTrainer`."""

from grpo_ref.explain.dialects.trl.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
