"""Policies: logits for the next token, and the way back from their gradient to the parameters."""

POLICIES = ("table", "mlp", "transformer")
"""The kinds of policy; what a network is by name is in `kinds`."""
