"""Policies: logits for the next token, and the way back from their gradient to the parameters."""
