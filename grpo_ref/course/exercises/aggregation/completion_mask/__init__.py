"""Exercise aggregation/completion_mask."""
