"""Exercise ratios/sapo."""
