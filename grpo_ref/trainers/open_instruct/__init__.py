"""Open Instruct at e6c3044a (August 2026), `GRPOExperimentConfig`."""

from grpo_ref.trainers.open_instruct.keys import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
