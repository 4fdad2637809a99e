"""Exercise training/train_bandit."""
