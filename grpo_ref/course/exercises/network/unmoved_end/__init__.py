"""Exercise network/unmoved_end."""
