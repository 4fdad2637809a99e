"""Exercise advantages/leave_one_out."""
