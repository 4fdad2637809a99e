"""Exercise network/attention_slope."""
