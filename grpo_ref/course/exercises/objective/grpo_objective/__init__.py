"""Exercise objective/grpo_objective."""
