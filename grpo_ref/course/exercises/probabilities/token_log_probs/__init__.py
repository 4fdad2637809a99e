"""Exercise probabilities/token_log_probs."""
