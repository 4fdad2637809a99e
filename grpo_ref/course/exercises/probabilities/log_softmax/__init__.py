"""Exercise probabilities/log_softmax."""
