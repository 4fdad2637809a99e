"""Exercise advantages/gdpo."""
