"""Exercise advantages/group_normalized."""
