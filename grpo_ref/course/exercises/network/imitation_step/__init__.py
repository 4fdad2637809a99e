"""Exercise network/imitation_step."""
