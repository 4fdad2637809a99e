"""Exercise network/next_token."""
