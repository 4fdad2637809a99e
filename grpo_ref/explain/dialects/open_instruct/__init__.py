"""Open Instruct at e6c3044a (August 2026), `GRPOExperimentConfig`."""

from grpo_ref.explain.dialects.open_instruct.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
