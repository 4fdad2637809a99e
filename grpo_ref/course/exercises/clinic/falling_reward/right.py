"""Right answers to clinic/falling_reward in other styles."""

import bisect
import itertools
import math

import numpy as np
import scipy.special


def minimizing_a_loss(payoffs, uniforms, learning_rate=2.0):
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    logits = np.zeros((payoffs.shape[1], payoffs.shape[3]))
    for paid, numbers in zip(payoffs, uniforms, strict=True):
        probs = scipy.special.softmax(logits, axis=1)
        chosen = (probs.cumsum(1)[:, None, :-1] <= numbers[..., None]).sum(2)
        one_hot = np.eye(logits.shape[1])[chosen]
        rewards = (paid * one_hot).sum(2)
        advantages = rewards - rewards.mean(1)[:, None]
        loss_gradient = -(advantages[..., None] * (one_hot - probs[:, None])).sum(1) / rewards.size
        logits = logits - learning_rate * loss_gradient
    return logits


def with_loops(payoffs, uniforms, learning_rate=2.0):
    payoffs, uniforms = np.asarray(payoffs).tolist(), np.asarray(uniforms).tolist()
    prompts, group, arms = len(payoffs[0]), len(payoffs[0][0]), len(payoffs[0][0][0])
    logits = [[0.0] * arms for _ in range(prompts)]
    for paid, numbers in zip(payoffs, uniforms, strict=True):
        for p in range(prompts):
            weights = [math.exp(z - max(logits[p])) for z in logits[p]]
            probs = [weight / math.fsum(weights) for weight in weights]
            edges = list(itertools.accumulate(probs))[:-1]
            chosen = [bisect.bisect_right(edges, number) for number in numbers[p]]
            rewards = [paid[p][g][chosen[g]] for g in range(group)]
            mean = math.fsum(rewards) / group
            for v in range(arms):
                steps = [(r - mean) * ((arm == v) - probs[v]) for r, arm in zip(rewards, chosen, strict=True)]
                logits[p][v] += learning_rate * math.fsum(steps) / (prompts * group)
    return logits


def with_einsum(payoffs, uniforms, learning_rate=2.0):
    payoffs, uniforms = np.array(payoffs, dtype=np.float64), np.array(uniforms, dtype=np.float64)
    updates, prompts, group, arms = payoffs.shape
    logits = np.zeros((prompts, arms))
    for u in range(updates):
        probs = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
        below = np.cumsum(probs, axis=1)[:, None, :] <= uniforms[u][:, :, None]
        one_hot = np.eye(arms)[np.count_nonzero(below[..., :-1], axis=-1)]
        rewards = np.einsum("pgv,pgv->pg", payoffs[u], one_hot)
        centered = rewards - np.einsum("pg->p", rewards)[:, None] / group
        step = np.einsum("pg,pgv->pv", centered, one_hot - probs[:, None])
        logits += learning_rate / (prompts * group) * step
    return logits


def counts_of_arms(payoffs, uniforms, learning_rate=2.0):
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    logits = np.zeros(payoffs.shape[1::2])
    for u in range(len(payoffs)):
        step = np.zeros_like(logits)
        for p, row in enumerate(logits):
            probs = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
            chosen = np.searchsorted(probs.cumsum()[:-1], uniforms[u, p], side="right")
            rewards = payoffs[u, p, np.arange(len(chosen)), chosen]
            advantages = rewards - np.average(rewards)
            step[p] = np.bincount(chosen, advantages, len(row)) - advantages.sum() * probs
        logits = logits + learning_rate * step / uniforms[u].size
    return logits


def each_prompt_alone(payoffs, uniforms, learning_rate=2.0):
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    updates, prompts, group, arms = payoffs.shape
    rows = []
    for p in range(prompts):
        row = np.zeros(arms)
        for u in range(updates):
            probs = scipy.special.softmax(row)
            chosen = [np.flatnonzero(np.append(np.cumsum(probs)[:-1] > x, True))[0] for x in uniforms[u, p]]
            rewards = np.array([payoffs[u, p, g, arm] for g, arm in enumerate(chosen)])
            step = (rewards - rewards.mean()) @ (np.eye(arms)[chosen] - probs)
            row = row + learning_rate * step / prompts / group
        rows.append(row)
    return rows


def recursive(payoffs, uniforms, learning_rate=2.0):
    payoffs = np.asarray(payoffs, dtype=float)
    if len(payoffs) == 0:
        return np.zeros((payoffs.shape[1], payoffs.shape[3]))
    logits = np.asarray(recursive(payoffs[:-1], uniforms[:-1], learning_rate))
    probs = np.exp(scipy.special.log_softmax(logits, axis=-1))
    one_hot = np.zeros(payoffs.shape[1:])
    for p, g in np.ndindex(one_hot.shape[:2]):
        total, arm = probs[p, 0], 0
        while total <= uniforms[-1][p][g] and arm < logits.shape[1] - 1:
            arm += 1
            total += probs[p, arm]
        one_hot[p, g, arm] = 1.0
    rewards = np.sum(payoffs[-1], axis=-1, where=one_hot > 0)
    advantages = rewards - rewards.mean(axis=-1, keepdims=True)
    step = np.mean(advantages[..., None] * (one_hot - probs[:, None]), axis=1)
    return logits + learning_rate * step / len(probs)
