"""Exercise objective/grpo_loss."""
