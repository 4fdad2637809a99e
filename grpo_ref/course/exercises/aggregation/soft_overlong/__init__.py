"""Exercise aggregation/soft_overlong."""
