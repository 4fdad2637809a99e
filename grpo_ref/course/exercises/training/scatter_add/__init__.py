"""Exercise training/scatter_add."""
