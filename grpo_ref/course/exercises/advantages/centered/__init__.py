"""Exercise advantages/centered."""
