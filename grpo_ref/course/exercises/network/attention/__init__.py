"""Exercise network/attention."""
