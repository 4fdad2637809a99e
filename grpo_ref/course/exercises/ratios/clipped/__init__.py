"""Exercise ratios/clipped."""
