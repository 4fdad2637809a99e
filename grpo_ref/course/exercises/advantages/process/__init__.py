"""Exercise advantages/process."""
