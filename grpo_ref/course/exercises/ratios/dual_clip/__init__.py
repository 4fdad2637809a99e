"""Exercise ratios/dual_clip."""
