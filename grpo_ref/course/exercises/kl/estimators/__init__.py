"""Exercise kl/estimators."""
