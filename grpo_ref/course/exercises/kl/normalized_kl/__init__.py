"""Exercise kl/normalized_kl."""
