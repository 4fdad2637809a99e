"""Model answer: one training step of GRPO."""

import numpy as np


def grpo_step(embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate, clip=0.2):
    """E and W after one step of ascent on the clipped objective, and the clip fraction."""
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
    clipped = ((advantages > 0) & (ratio > 1 + clip)) | ((advantages < 0) & (ratio < 1 - clip))
    log_probs_slope = np.where(clipped, 0.0, weights * ratio * advantages).reshape(-1, 1)

    logits_slope = log_probs_slope * (np.eye(len(embeddings))[after] - np.exp(log_probs))
    inner = (logits_slope @ embeddings) * (1.0 - hidden**2)
    weight_slope = embeddings[before].T @ inner
    embeddings_slope = logits_slope.T @ hidden  # from z = E h
    np.add.at(embeddings_slope, before, inner @ weight.T)  # from E[x]; a token may be read several times
    new = embeddings + learning_rate * embeddings_slope, weight + learning_rate * weight_slope
    return *new, (weights * clipped).sum()
