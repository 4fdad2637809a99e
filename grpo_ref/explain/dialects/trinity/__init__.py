"""Trinity-RFT 0.6.0 (June 2026): the algorithms of its YAML files that compare completions of a prompt."""

from grpo_ref.explain.dialects.trinity.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
