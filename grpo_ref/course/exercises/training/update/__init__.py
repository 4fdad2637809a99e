"""Exercise training/update."""
