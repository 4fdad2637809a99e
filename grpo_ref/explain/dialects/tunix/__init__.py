"""Tunix at c7d8950f (August 2026): `grpo_loss_fn` and the learners around it, GRPO, agentic GRPO, DAPO and Dr. GRPO."""

from grpo_ref.explain.dialects.tunix.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
