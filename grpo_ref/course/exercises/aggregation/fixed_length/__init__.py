"""Exercise aggregation/fixed_length."""
