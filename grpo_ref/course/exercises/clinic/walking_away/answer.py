"""Model answer: copy the reference."""

import numpy as np


def softmax(logits):
    """Return the probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def draw(probs, uniforms):
    """Sample one token for each uniform number. probs has one axis more than uniforms."""
    # The last column is omitted: its sum is 1, which is larger than every number.
    return (np.cumsum(probs, -1)[..., :-1] <= uniforms[..., None]).sum(-1)


def train(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1):
    """Train with a KL penalty that keeps the policy near the start."""
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    updates, prompts, group, arms = payoffs.shape
    logits = np.array(start, dtype=float)
    # solution
    reference = logits.copy()
    # instead: reference = logits
    # end
    for u in range(updates):
        probs = softmax(logits)
        chosen = draw(probs[:, None, :], uniforms[u])
        rewards = np.take_along_axis(payoffs[u], chosen[..., None], -1)[..., 0]
        advantages = rewards - rewards.mean(-1, keepdims=True)
        current = np.take_along_axis(probs, chosen, -1)
        at_start = np.take_along_axis(softmax(reference), chosen, -1)
        slope = advantages - kl_coef * (1 - at_start / current)
        one_hot = np.eye(arms)[chosen]
        gradient = (slope[..., None] * (one_hot - probs[:, None, :])).sum(1) / (prompts * group)
        logits += learning_rate * gradient
    return logits
