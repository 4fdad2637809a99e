"""Exercise aggregation/token_mean."""
