"""Exercise kl/k3."""
