"""TRL 1.16.0, `GRPOConfig` and `GRPOTrainer`."""

from grpo_ref.trainers.trl.keys import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
