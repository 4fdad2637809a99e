"""Exercise kl/distillation."""
