"""Exercise network/grpo_step."""
