"""slime at 624b824a (August 2026), `policy_loss_function` and the advantages of its Megatron actor."""

from grpo_ref.explain.dialects.slime.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
