"""Exercise advantages/ranks."""
