"""RLinf at a3816b59 (August 2026), the `algorithm` group of its YAML files."""

from grpo_ref.trainers.rlinf.keys import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
