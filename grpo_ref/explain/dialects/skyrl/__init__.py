"""SkyRL at a9564572 (August 2026): its trainer, and the worker of the FSDP and Megatron backends."""

from grpo_ref.explain.dialects.skyrl.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
