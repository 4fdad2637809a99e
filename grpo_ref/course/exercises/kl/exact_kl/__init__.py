"""Exercise kl/exact_kl."""
