"""Model answer: add every pull."""

import numpy as np


def softmax(logits):
    """Return the probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def draw(probs, uniforms):
    """Sample one token for each uniform number. probs has one axis more than uniforms."""
    # The last column is omitted: its sum is 1, which is larger than every number.
    return (np.cumsum(probs, -1)[..., :-1] <= uniforms[..., None]).sum(-1)


def train(payoffs, uniforms, learning_rate=2.0):
    """Train one row of logits per prompt; the baseline is the mean of the group."""
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    updates, prompts, group, arms = payoffs.shape
    rows = np.repeat(np.arange(prompts), group)
    logits = np.zeros((prompts, arms))
    for u in range(updates):
        probs = softmax(logits)
        chosen = draw(probs[rows], uniforms[u].reshape(-1))
        rewards = payoffs[u].reshape(-1, arms)[np.arange(len(rows)), chosen].reshape(prompts, group)
        advantages = (rewards - rewards.mean(-1, keepdims=True)).reshape(-1, 1)
        step = advantages * (np.eye(arms)[chosen] - probs[rows]) / len(rows)
        gradient = np.zeros_like(logits)
        np.add.at(gradient, rows, step)
        logits = logits + learning_rate * gradient
    return logits
