"""Exercise ratios/clipped_slope."""
