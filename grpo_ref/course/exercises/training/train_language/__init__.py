"""Exercise training/train_language."""
