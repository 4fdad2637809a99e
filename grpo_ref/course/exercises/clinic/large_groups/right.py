"""Right answers to clinic/large_groups in other styles: most repair the given program."""

import numpy as np


def _train(payoffs, uniforms, learning_rate, summed):
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    _, prompts, group, arms = payoffs.shape
    rows = np.repeat(np.arange(prompts), group)
    logits = np.zeros((prompts, arms))
    for paid, numbers in zip(payoffs, uniforms, strict=True):
        probs = np.exp(logits - logits.max(1)[:, None])
        probs = probs / probs.sum(1)[:, None]
        chosen = (np.cumsum(probs, 1)[rows, :-1] <= numbers.reshape(-1, 1)).sum(1)
        rewards = paid.reshape(-1, arms)[np.arange(rows.size), chosen].reshape(prompts, group)
        advantages = (rewards - rewards.mean(1, keepdims=True)).reshape(-1, 1)
        step = advantages * (np.eye(arms)[chosen] - probs[rows]) / rows.size
        logits = logits + learning_rate * np.asarray(summed(rows, step, prompts))
    return logits


def a_loop_again(payoffs, uniforms, learning_rate=2.0):
    return _train(payoffs, uniforms, learning_rate, _loop)


def _loop(rows, step, prompts):
    gradient = np.zeros((prompts, step.shape[1]))
    for row, each in zip(rows, step, strict=True):
        gradient[row] += each
    return gradient


def reshaped(payoffs, uniforms, learning_rate=2.0):
    return _train(
        payoffs,
        uniforms,
        learning_rate,
        lambda rows, step, prompts: step.reshape(prompts, -1, step.shape[1]).sum(1),
    )


def one_hot_product(payoffs, uniforms, learning_rate=2.0):
    return _train(
        payoffs, uniforms, learning_rate, lambda rows, step, prompts: np.eye(prompts)[rows].T @ step
    )


def with_bincount(payoffs, uniforms, learning_rate=2.0):
    return _train(
        payoffs,
        uniforms,
        learning_rate,
        lambda rows, step, prompts: np.stack([np.bincount(rows, each, prompts) for each in step.T], axis=-1),
    )


def boolean_index(payoffs, uniforms, learning_rate=2.0):
    return _train(
        payoffs,
        uniforms,
        learning_rate,
        lambda rows, step, prompts: [step[rows == p].sum(0) for p in range(prompts)],
    )


def with_reduceat(payoffs, uniforms, learning_rate=2.0):
    return _train(
        payoffs,
        uniforms,
        learning_rate,
        lambda rows, step, prompts: np.add.reduceat(step, np.searchsorted(rows, np.arange(prompts)), axis=0),
    )


def with_einsum(payoffs, uniforms, learning_rate=2.0):
    payoffs, uniforms = np.array(payoffs, dtype=float), np.array(uniforms, dtype=float)
    logits = np.zeros((payoffs.shape[1], payoffs.shape[-1]))
    for u in range(len(payoffs)):
        scores = np.exp(logits - logits.max(axis=-1, keepdims=True))
        probs = np.einsum("pv,p->pv", scores, 1 / scores.sum(axis=-1))
        edges = np.cumsum(probs, axis=-1)
        edges[:, -1] = 1.0
        one_hot = np.eye(logits.shape[-1])[(edges[:, None] > uniforms[u][..., None]).argmax(-1)]
        rewards = np.einsum("pgv,pgv->pg", payoffs[u], one_hot)
        step = np.einsum("pg,pgv->pv", rewards - rewards.mean(-1)[:, None], one_hot)
        logits = logits + learning_rate / rewards.size * step
    return logits
