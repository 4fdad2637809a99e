"""RLinf at a3816b59 (August 2026), the `algorithm` group of its YAML files and the kind of actor.

There are two different actors for language models: `actor.training_backend` is "megatron" or "fsdp".
"""

from grpo_ref.explain.dialects.rlinf.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
