"""Exercise network/cross_entropy."""
