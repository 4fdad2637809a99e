"""Exercise clinic/read_the_curve."""
