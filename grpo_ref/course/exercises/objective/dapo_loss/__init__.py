"""Exercise objective/dapo_loss."""
