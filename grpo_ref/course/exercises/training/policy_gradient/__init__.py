"""Exercise training/policy_gradient."""
