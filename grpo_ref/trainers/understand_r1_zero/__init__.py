"""understand-r1-zero at dfca49dd (August 2025): the code of Dr. GRPO's authors."""

from grpo_ref.trainers.understand_r1_zero.keys import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
