"""Right answers to clinic/walking_away in other styles: most repair the given program."""

import math

import numpy as np
import scipy.special


def _train(start, payoffs, uniforms, learning_rate, kl_coef, penalty_slope):
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    reference = scipy.special.log_softmax(np.asarray(start, dtype=float), axis=-1)
    logits = np.array(start, dtype=float)
    p, g = np.arange(payoffs.shape[1])[:, None], np.arange(payoffs.shape[2])
    for paid, numbers in zip(payoffs, uniforms, strict=True):
        log_probs = scipy.special.log_softmax(logits, axis=-1)
        chosen = (np.cumsum(np.exp(log_probs), -1)[:, None, :-1] <= numbers[..., None]).sum(-1)
        rewards = paid[p, g, chosen]
        pull = rewards - rewards.mean(-1, keepdims=True)
        pull = pull - kl_coef * penalty_slope((log_probs - reference)[p, chosen])
        one_hot = np.eye(logits.shape[1])[chosen]
        step = (pull[..., None] * (one_hot - np.exp(log_probs)[:, None])).sum(1)
        logits += learning_rate * step / chosen.size
    return logits


def with_expm1(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1):
    return _train(start, payoffs, uniforms, learning_rate, kl_coef, lambda v: -np.expm1(-v))


def with_exp(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1):
    return _train(start, payoffs, uniforms, learning_rate, kl_coef, lambda v: 1 - np.exp(-v))


def one_by_one(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1):
    return _train(
        start,
        payoffs,
        uniforms,
        learning_rate,
        kl_coef,
        lambda v: np.reshape([1 - 1 / math.exp(each) for each in v.ravel()], v.shape),
    )


def a_new_array_each_update(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1):
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    reference = logits = np.asarray(start, dtype=float)
    for u in range(len(payoffs)):
        probs, theirs = (np.exp(z) / np.exp(z).sum(1)[:, None] for z in (logits, reference))
        edges = probs.cumsum(1)[:, None, :-1]
        one_hot = np.eye(logits.shape[1])[(edges <= uniforms[u][:, :, None]).sum(2)]
        rewards = np.einsum("pgv,pgv->pg", payoffs[u], one_hot)
        quotient = (one_hot @ (theirs / probs)[..., None])[..., 0]
        slope = rewards - rewards.mean(1)[:, None] - kl_coef * (1 - quotient)
        gradient = np.einsum("pg,pgv->pv", slope, one_hot - probs[:, None]) / slope.size
        logits = logits + learning_rate * gradient
    return logits


def the_leash_in_two_parts(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1):
    logits = np.array(start, dtype=float)
    reference = np.exp(logits - scipy.special.logsumexp(logits, axis=-1, keepdims=True))
    for paid, numbers in zip(np.asarray(payoffs, dtype=float), np.asarray(uniforms), strict=True):
        probs = np.exp(logits - scipy.special.logsumexp(logits, axis=-1, keepdims=True))
        edges = np.cumsum(probs, axis=-1)[:, None, :-1]
        one_hot = np.eye(logits.shape[1])[(edges <= numbers[..., None]).sum(-1)]
        rewards = (paid * one_hot).sum(-1)
        quotient = (one_hot * (reference / probs)[:, None]).sum(-1)
        pull = rewards - rewards.mean(-1, keepdims=True) - kl_coef + kl_coef * quotient
        step = (pull[..., None] * one_hot).sum(1) - pull.sum(1, keepdims=True) * probs
        logits = logits + learning_rate * step / pull.size
    return logits


def the_distance_is_kept(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1):
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    start = np.asarray(start, dtype=float)
    moved = np.zeros_like(start)
    reference = scipy.special.softmax(start, axis=1)
    for paid, numbers in zip(payoffs, uniforms, strict=True):
        probs = scipy.special.softmax(start + moved, axis=1)
        step = np.zeros_like(moved)
        for p in range(len(probs)):
            chosen = np.searchsorted(np.cumsum(probs[p])[:-1], numbers[p], side="right")
            rewards = np.array([paid[p, g, arm] for g, arm in enumerate(chosen)])
            slope = rewards - rewards.mean() - kl_coef * (1 - reference[p][chosen] / probs[p][chosen])
            step[p] = np.bincount(chosen, slope, probs.shape[1]) - slope.sum() * probs[p]
        moved = moved + learning_rate * step / numbers.size
    return start + moved


def with_loops(start, payoffs, uniforms, learning_rate=2.0, kl_coef=0.1):
    logits = [[float(z) for z in row] for row in start]
    reference = [_softmax(row) for row in logits]
    prompts, group, arms = np.shape(payoffs)[1:]
    for paid, numbers in zip(payoffs, uniforms, strict=True):
        for p in range(prompts):
            probs = _softmax(logits[p])
            chosen = [_drawn(probs, number) for number in numbers[p]]
            rewards = [float(paid[p][g][arm]) for g, arm in enumerate(chosen)]
            for reward, arm in zip(rewards, chosen, strict=True):
                slope = reward - math.fsum(rewards) / group - kl_coef * (1 - reference[p][arm] / probs[arm])
                for v in range(arms):
                    logits[p][v] += learning_rate * slope * ((v == arm) - probs[v]) / (prompts * group)
    return logits


def _softmax(row):
    weights = [math.exp(z - max(row)) for z in row]
    return [weight / math.fsum(weights) for weight in weights]


def _drawn(probs, number):
    total = 0.0
    for arm, prob in enumerate(probs[:-1]):
        total += prob
        if total > number:
            return arm
    return len(probs) - 1
