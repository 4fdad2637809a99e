"""Model answer: on easy prompts everything is right, on hard ones everything is wrong."""

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
    logits = np.zeros((prompts, arms))
    for u in range(updates):
        probs = softmax(logits)
        chosen = draw(probs[:, None, :], uniforms[u])
        rewards = np.take_along_axis(payoffs[u], chosen[..., None], -1)[..., 0]
        # solution
        advantages = rewards - rewards.mean(-1, keepdims=True)
        # instead: advantages = rewards - rewards.mean()
        # end
        one_hot = np.eye(arms)[chosen]
        gradient = (advantages[..., None] * (one_hot - probs[:, None, :])).sum(1) / (prompts * group)
        logits = logits + learning_rate * gradient
    return logits
