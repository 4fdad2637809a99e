"""AReaL at cbff54d64 (August 2026): `PPOActor` without a critic, its normalizations, losses and filters."""

from grpo_ref.explain.dialects.areal.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
