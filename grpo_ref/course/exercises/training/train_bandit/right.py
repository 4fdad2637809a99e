"""Right answers to training/train_bandit in other styles."""

import bisect
import itertools
import math
import statistics

import numpy as np
import scipy.special


def with_loops(payoffs, uniforms, learning_rate=2.0):
    group, arms = np.shape(payoffs)[1:]
    logits = [0.0] * arms
    for paid, numbers in zip(payoffs, uniforms, strict=True):
        weights = [math.exp(z - max(logits)) for z in logits]
        probs = [weight / math.fsum(weights) for weight in weights]
        edges = list(itertools.accumulate(probs))[:-1]
        chosen = [bisect.bisect_right(edges, number) for number in numbers]
        rewards = [float(row[arm]) for row, arm in zip(paid, chosen, strict=True)]
        mean = math.fsum(rewards) / group
        std = math.sqrt(math.fsum((r - mean) ** 2 for r in rewards) / group)
        for v in range(arms):
            steps = [(r - mean) * ((arm == v) - probs[v]) for r, arm in zip(rewards, chosen, strict=True)]
            logits[v] += learning_rate * math.fsum(steps) / (std + 1e-4) / group
    return logits


def with_einsum(payoffs, uniforms, learning_rate=2.0):
    payoffs, uniforms = np.array(payoffs, dtype=float), np.array(uniforms, dtype=float)
    logits = np.zeros(payoffs.shape[2])
    for u in range(payoffs.shape[0]):
        probs = scipy.special.softmax(logits)
        one_hot = np.eye(len(logits))[(probs.cumsum()[None, :-1] <= uniforms[u][:, None]).sum(1)]
        rewards = np.einsum("gv,gv->g", payoffs[u], one_hot)
        centered = rewards - np.einsum("g->", rewards) / len(rewards)
        std = np.sqrt(np.einsum("g,g->", centered, centered) / len(rewards))
        logits = logits + learning_rate * np.einsum(
            "g,gv->v", centered / (std + 1e-4), one_hot - probs
        ) / len(rewards)
    return logits


def counts_of_arms(payoffs, uniforms, learning_rate=2.0):
    payoffs, uniforms = np.asarray(payoffs, dtype=np.float64), np.asarray(uniforms, dtype=np.float64)
    _, group, arms = payoffs.shape
    logits = np.zeros(arms)
    for paid, numbers in zip(payoffs, uniforms, strict=True):
        probs = np.exp(scipy.special.log_softmax(logits))
        chosen = np.searchsorted(np.cumsum(probs)[:-1], numbers, side="right")
        rewards = paid[np.arange(group), chosen]
        advantages = (rewards - np.average(rewards)) / (np.sqrt(np.var(rewards)) + 1e-4)
        logits += learning_rate / group * np.bincount(chosen, advantages, arms)
    return logits


def recursive(payoffs, uniforms, learning_rate=2.0):
    if len(payoffs) == 0:
        return 0.0
    logits = recursive(payoffs[:-1], uniforms[:-1], learning_rate) + np.zeros(np.shape(payoffs)[2])
    probs = np.exp(logits - np.logaddexp.reduce(logits))
    chosen = [_drawn(probs, number) for number in uniforms[-1]]
    rewards = [float(row[arm]) for row, arm in zip(payoffs[-1], chosen, strict=True)]
    mean, std = statistics.fmean(rewards), statistics.pstdev(rewards)
    steps = [(r - mean) * (np.eye(len(probs))[arm] - probs) for r, arm in zip(rewards, chosen, strict=True)]
    return logits + learning_rate / (std + 1e-4) * sum(steps) / len(steps)


def minimizing_a_loss(payoffs, uniforms, learning_rate=2.0):
    logits = np.zeros(np.shape(payoffs)[-1])
    for u, paid in enumerate(np.asarray(payoffs, dtype=float)):
        exponentials = np.exp(logits - np.amax(logits))
        probs = exponentials / np.sum(exponentials)
        chosen = np.array([np.argmax(np.append(np.cumsum(probs)[:-1], 1.0) > x) for x in uniforms[u]])
        rewards = np.take_along_axis(paid, chosen[:, None], axis=1)
        z = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
        loss_gradient = z * (probs - np.eye(len(logits))[chosen])
        logits = logits - learning_rate * loss_gradient.mean(axis=0)
    return logits


def each_arm_by_itself(payoffs, uniforms, learning_rate=2.0):
    payoffs = np.asarray(payoffs, dtype=float)
    z = np.zeros(payoffs.shape[2])
    for paid, numbers in zip(payoffs, uniforms, strict=True):
        probs = scipy.special.softmax(z)
        chosen = np.array([_drawn(probs, number) for number in numbers])
        rewards = np.diagonal(paid[:, chosen])
        center = np.eye(len(chosen)) - 1 / len(chosen)
        centered = center @ rewards
        advantages = centered / (np.linalg.norm(centered) / math.sqrt(len(chosen)) + 1e-4)
        moves = [advantages[chosen == v].sum() - p * advantages.sum() for v, p in enumerate(probs)]
        z = z + np.multiply(moves, learning_rate) / len(chosen)
    return z.tolist()


def _drawn(probs, number):
    total = 0.0
    for arm, prob in enumerate(probs[:-1]):
        total += prob
        if total > number:
            return arm
    return len(probs) - 1
