"""The keys of `run_grpo.py` at NeMo-RL 7ea279ab: its classes, and `examples/configs/grpo_math_1B.yaml`, which others start from."""

SCORED = "is_scored"
"""Not a key: true if the penalty's slope includes the score of the sampled tokens, as from 0.7 on."""
