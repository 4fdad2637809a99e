"""understand-r1-zero at dfca49dd (August 2025), the code of Dr. GRPO's authors, with oat 0.1.3.post1 below it."""

from grpo_ref.explain.dialects.understand_r1_zero.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
