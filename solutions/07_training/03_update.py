"""Model answer: one step uphill."""

import numpy as np


def update(logits, states, tokens, advantages, mask, learning_rate):
    """One step of gradient ascent on the weighted log-probabilities of the tokens."""
    logits, states, tokens = np.asarray(logits, dtype=float), np.asarray(states), np.asarray(tokens)
    probs = np.exp(logits - logits.max(-1, keepdims=True))
    probs = probs / probs.sum(-1, keepdims=True)
    mask = np.asarray(mask, dtype=float)
    weights = mask / mask.sum() * np.asarray(advantages, dtype=float)[:, None]
    gradient = np.zeros_like(logits)
    np.add.at(gradient, states, weights[..., None] * (np.eye(logits.shape[-1])[tokens] - probs[states]))
    return logits + learning_rate * gradient
