"""Exercise ratios/scenarios."""
