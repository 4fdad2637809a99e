"""Model answer: give padding no weight."""

import numpy as np


def softmax(logits):
    """Return the probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def draw(probs, uniforms):
    """Sample one token for each uniform number. probs has one axis more than uniforms."""
    # The last column is omitted: its sum is 1, which is larger than every number.
    return (np.cumsum(probs, -1)[..., :-1] <= uniforms[..., None]).sum(-1)


def train(uniforms, vocabulary, learning_rate=8.0):
    """Train one row of logits per position; a completion is right if its third token is the end."""
    uniforms = np.asarray(uniforms, dtype=float)
    _, group, length = uniforms.shape
    logits = np.zeros((length, vocabulary))
    positions = np.tile(np.arange(length), (group, 1))
    for numbers in uniforms:
        probs = softmax(logits)
        tokens = draw(probs[positions], numbers)
        is_end = tokens == 0
        mask = (np.cumsum(is_end, -1) - is_end == 0).astype(float)
        rewards = ((mask.sum(-1) == 3) & (mask * is_end).any(-1)).astype(float)
        advantages = (rewards - rewards.mean())[:, None]
        weights = mask / mask.sum()
        slope = weights * advantages
        gradient = np.zeros_like(logits)
        np.add.at(gradient, positions, slope[..., None] * (np.eye(vocabulary)[tokens] - probs[positions]))
        logits = logits + learning_rate * gradient
    return logits
