"""Exercise clinic/walking_away."""
