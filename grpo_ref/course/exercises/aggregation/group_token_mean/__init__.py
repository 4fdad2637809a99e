"""Exercise aggregation/group_token_mean."""
