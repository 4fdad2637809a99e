"""EasyR1 at b44b311b (July 2026), a fork of verl: `compute_policy_loss` and the trainer around it."""

from grpo_ref.explain.dialects.easy_r1.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
