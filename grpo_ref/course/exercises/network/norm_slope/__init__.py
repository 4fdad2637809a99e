"""Exercise network/norm_slope."""
