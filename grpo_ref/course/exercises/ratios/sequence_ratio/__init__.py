"""Exercise ratios/sequence_ratio."""
