"""Exercise kl/expected_gradient."""
