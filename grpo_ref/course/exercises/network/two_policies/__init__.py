"""Exercise network/two_policies."""
