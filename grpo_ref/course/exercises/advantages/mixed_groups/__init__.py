"""Exercise advantages/mixed_groups."""
