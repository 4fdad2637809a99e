"""Policies: logits of the next token, and the backward pass from their gradient to the parameters."""

POLICIES = ("table", "mlp", "transformer")
"""Names of the kinds of policy. `kinds.network_for` makes a network by name."""
