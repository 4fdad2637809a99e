"""Right answers to clinic/easy_and_hard in other styles: most repair the given program."""

import math
import statistics

import numpy as np


def _train(payoffs, uniforms, learning_rate, advantages_of):
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    logits = np.zeros((payoffs.shape[1], payoffs.shape[3]))
    for paid, numbers in zip(payoffs, uniforms, strict=True):
        probs = np.exp(logits - logits.max(-1, keepdims=True))
        probs /= probs.sum(-1, keepdims=True)
        chosen = (np.cumsum(probs, -1)[:, None, :-1] <= numbers[..., None]).sum(-1)
        one_hot = np.eye(logits.shape[-1])[chosen]
        advantages = np.asarray(advantages_of((paid * one_hot).sum(-1)))
        gradient = (advantages[..., None] * (one_hot - probs[:, None])).sum(1) / chosen.size
        logits = logits + learning_rate * gradient
    return logits


def row_by_row(payoffs, uniforms, learning_rate=2.0):
    return _train(payoffs, uniforms, learning_rate, lambda rewards: [row - np.mean(row) for row in rewards])


def by_projection(payoffs, uniforms, learning_rate=2.0):
    return _train(
        payoffs,
        uniforms,
        learning_rate,
        lambda rewards: rewards @ (np.eye(rewards.shape[1]) - 1 / rewards.shape[1]),
    )


def transposed(payoffs, uniforms, learning_rate=2.0):
    return _train(payoffs, uniforms, learning_rate, lambda r: (r.T - np.average(r, axis=1)).T)


def with_statistics(payoffs, uniforms, learning_rate=2.0):
    return _train(
        payoffs,
        uniforms,
        learning_rate,
        lambda rewards: [[r - statistics.fmean(row) for r in row] for row in rewards.tolist()],
    )


def half_of_all_differences(payoffs, uniforms, learning_rate=2.0):
    return _train(
        payoffs, uniforms, learning_rate, lambda rewards: (rewards[:, :, None] - rewards[:, None, :]).mean(2)
    )


def loops(payoffs, uniforms, learning_rate=2.0):
    prompts, group, arms = np.shape(payoffs)[1:]
    logits = [[0.0] * arms for _ in range(prompts)]
    for paid, numbers in zip(payoffs, uniforms, strict=True):
        for p, row in enumerate(logits):
            largest = max(row)
            probs = [math.exp(z - largest) for z in row]
            probs = [x / sum(probs) for x in probs]
            chosen = [_drawn(probs, number) for number in numbers[p]]
            rewards = [float(paid[p][g][arm]) for g, arm in enumerate(chosen)]
            advantages = [r - math.fsum(rewards) / group for r in rewards]
            for v in range(arms):
                taken = math.fsum(a for a, arm in zip(advantages, chosen, strict=True) if arm == v)
                row[v] += learning_rate * (taken - probs[v] * math.fsum(advantages)) / (prompts * group)
    return logits


def _drawn(probs, number):
    for arm in range(len(probs) - 1):
        if math.fsum(probs[: arm + 1]) > number:
            return arm
    return len(probs) - 1
