"""Exercise probabilities/sampling."""
