"""Exercise ratios/cispo."""
