"""Model answer: the larger the group, the less it learns."""

import numpy as np


def softmax(logits):
    """Probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def draw(probs, uniforms):
    """One token for each uniform number; probs has one axis more."""
    return (np.cumsum(probs, -1)[..., :-1] <= uniforms[..., None]).sum(-1)


def train(payoffs, uniforms, learning_rate=2.0):
    """One softmax over the arms for each prompt, trained with the mean of the group for a baseline."""
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
        # solution
        np.add.at(gradient, rows, step)
        # instead: gradient[rows] += step
        # end
        logits = logits + learning_rate * gradient
    return logits
