"""ROLL at 8eb27cc2 (August 2026), its RLVR pipeline: `ActorWorker` and `ActorPGWorker` of roll.pipeline.rlvr."""

from grpo_ref.explain.dialects.roll.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
