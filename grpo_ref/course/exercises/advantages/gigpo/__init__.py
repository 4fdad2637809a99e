"""Exercise advantages/gigpo."""
