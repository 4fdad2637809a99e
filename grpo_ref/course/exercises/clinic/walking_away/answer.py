"""Model answer: it walks away on its leash."""

import numpy as np


def softmax(logits):
    """Probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def draw(probs, uniforms):
    """One token for each uniform number; probs has one axis more."""
    return (np.cumsum(probs, -1)[..., :-1] <= uniforms[..., None]).sum(-1)


def train(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1):
    """Ascent on the reward, held near the start by the slope of k3."""
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
        ours = np.take_along_axis(probs, chosen, -1)
        theirs = np.take_along_axis(softmax(reference), chosen, -1)
        slope = advantages - kl_coef * (1 - theirs / ours)
        one_hot = np.eye(arms)[chosen]
        gradient = (slope[..., None] * (one_hot - probs[:, None, :])).sum(1) / (prompts * group)
        logits += learning_rate * gradient
    return logits
