"""Exercise objective/grpo_gradient."""
