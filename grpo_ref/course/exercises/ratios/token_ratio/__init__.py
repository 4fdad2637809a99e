"""Exercise ratios/token_ratio."""
