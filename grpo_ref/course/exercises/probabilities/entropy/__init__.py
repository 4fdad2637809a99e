"""Exercise probabilities/entropy."""
