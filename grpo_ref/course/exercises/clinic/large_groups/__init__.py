"""Exercise clinic/large_groups."""
