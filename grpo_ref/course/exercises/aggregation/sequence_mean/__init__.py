"""Exercise aggregation/sequence_mean."""
