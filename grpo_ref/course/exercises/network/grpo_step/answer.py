"""Model answer: one step of GRPO."""

import numpy as np


def grpo_step(embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate, clip=0.2):
    """E and W after one step up the clipped objective, and the share of the tokens that are held."""
    # solution
    embeddings, weight = np.asarray(embeddings, dtype=float), np.asarray(weight, dtype=float)
    tokens = np.asarray(tokens)
    weights = np.asarray(mask, dtype=float)[:, 1:]
    weights = weights / max(weights.sum(), 1.0)
    before, after = tokens[:, :-1].ravel(), tokens[:, 1:].ravel()
    hidden = np.tanh(embeddings[before] @ weight)
    logits = hidden @ embeddings.T
    shifted = logits - logits.max(-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    chosen = log_probs[np.arange(len(after)), after].reshape(weights.shape)

    rewards = np.asarray(rewards, dtype=float)
    advantages = ((rewards - rewards.mean()) / (rewards.std() + 1e-4))[:, None]
    ratio = np.exp(chosen - np.asarray(old_log_probs, dtype=float)[:, 1:])
    held = ((advantages > 0) & (ratio > 1 + clip)) | ((advantages < 0) & (ratio < 1 - clip))
    push = np.where(held, 0.0, weights * ratio * advantages).reshape(-1, 1)

    slope = push * (np.eye(len(embeddings))[after] - np.exp(log_probs))
    inner = (slope @ embeddings) * (1.0 - hidden**2)
    of_embeddings, of_weight = slope.T @ hidden, embeddings[before].T @ inner
    np.add.at(of_embeddings, before, inner @ weight.T)
    new = embeddings + learning_rate * of_embeddings, weight + learning_rate * of_weight
    return *new, (weights * held).sum()
    # end
