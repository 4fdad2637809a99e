"""ms-swift 4.6.0 (October 2026), `swift rlhf --rlhf_type grpo`: `GRPOTrainer` of swift.rlhf_trainers.

`megatron rlhf` has a trainer of its own, `swift/megatron/trainers/grpo_trainer.py`, with the same advantages, losses,
penalty and averages; micro_batch_size is its per_device_train_batch_size, and it always samples with vLLM.
"""

from grpo_ref.explain.dialects.ms_swift.objective import DIALECT, recipe

__all__ = ["DIALECT", "recipe"]
