"""Check a loss function of your own against a recipe, on batches made to tell implementations apart."""

from grpo_ref.check.compare import FRAMEWORKS, Batch, Comparison, LossError, assert_matches, compare

__all__ = ["FRAMEWORKS", "Batch", "Comparison", "LossError", "assert_matches", "compare"]
