"""Exercise kl/k3_slope."""
