"""Right answers to clinic/idle_clip in other styles."""

import math

import numpy as np
import scipy.special


def _train(payoffs, uniforms, learning_rate, steps, clip, slope_of):
    payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)
    logits = np.zeros((payoffs.shape[1], payoffs.shape[3]))
    for paid, numbers in zip(payoffs, uniforms, strict=True):
        old = scipy.special.softmax(logits, axis=-1)
        one_hot = np.eye(logits.shape[1])[(np.cumsum(old, -1)[:, None, :-1] <= numbers[..., None]).sum(-1)]
        rewards = (one_hot * paid).sum(-1)
        advantages = rewards - rewards.mean(-1, keepdims=True)
        for _ in range(steps):
            probs = scipy.special.softmax(logits, axis=-1)
            ratio = (one_hot * (probs / old)[:, None]).sum(-1)
            slope = slope_of(ratio, advantages, clip) / ratio.size
            logits = logits + learning_rate * (slope[..., None] * (one_hot - probs[:, None])).sum(1)
    return logits


def the_smaller_branch(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2):
    def slope_of(ratio, advantages, clip):
        free, held = ratio * advantages, np.clip(ratio, 1 - clip, 1 + clip) * advantages
        return np.where(free <= held, free, 0.0)

    return _train(payoffs, uniforms, learning_rate, steps, clip, slope_of)


def by_the_sign(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2):
    def slope_of(ratio, advantages, clip):
        limit = 1 + clip * np.sign(advantages)
        return ratio * advantages * ((ratio - limit) * np.sign(advantages) <= 0)

    return _train(payoffs, uniforms, learning_rate, steps, clip, slope_of)


def boolean_index(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2):
    def slope_of(ratio, advantages, clip):
        slope = ratio * advantages
        slope[(advantages > 0) & (ratio > 1 + clip)] = 0.0
        slope[(advantages < 0) & (ratio < 1 - clip)] = 0.0
        return slope

    return _train(payoffs, uniforms, learning_rate, steps, clip, slope_of)


def good_and_bad_apart(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2):
    def slope_of(ratio, advantages, clip):
        good, bad = np.maximum(advantages, 0.0), np.minimum(advantages, 0.0)
        return ratio * (good * (ratio <= 1 + clip) + bad * (ratio >= 1 - clip))

    return _train(payoffs, uniforms, learning_rate, steps, clip, slope_of)


def with_log_softmax(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2):
    payoffs, uniforms = np.array(payoffs, dtype=float), np.array(uniforms, dtype=float)
    updates, prompts, group, arms = payoffs.shape
    logits, p, g = np.zeros((prompts, arms)), np.arange(prompts)[:, None], np.arange(group)
    for u in range(updates):
        log_old = scipy.special.log_softmax(logits, axis=1)
        chosen = np.count_nonzero(np.exp(log_old).cumsum(1)[:, None, :-1] <= uniforms[u][:, :, None], axis=2)
        rewards = payoffs[u][p, g, chosen]
        advantages = rewards - rewards.mean(1)[:, None]
        for _ in range(steps):
            log_probs = scipy.special.log_softmax(logits, axis=1)
            ratio = np.exp((log_probs - log_old)[p, chosen])
            is_clipped = np.where(advantages > 0, ratio > 1 + clip, ratio < 1 - clip)
            slope = np.where(is_clipped, 0.0, ratio * advantages)
            gradient = -slope.sum(1)[:, None] * np.exp(log_probs)
            np.add.at(gradient, (p, chosen), slope)
            logits = logits + learning_rate * gradient / (prompts * group)
    return logits


def with_loops(payoffs, uniforms, learning_rate=2.0, steps=4, clip=0.2):
    prompts, group, arms = np.shape(payoffs)[1:]
    logits = [[0.0] * arms for _ in range(prompts)]
    for paid, numbers in zip(payoffs, uniforms, strict=True):
        for p in range(prompts):
            old = _softmax(logits[p])
            chosen = [_drawn(old, number) for number in numbers[p]]
            rewards = [float(paid[p][g][arm]) for g, arm in enumerate(chosen)]
            baseline = math.fsum(rewards) / group
            for _ in range(steps):
                probs = _softmax(logits[p])
                for reward, arm in zip(rewards, chosen, strict=True):
                    a, r = reward - baseline, probs[arm] / old[arm]
                    if (a > 0 and r > 1 + clip) or (a < 0 and r < 1 - clip):
                        continue
                    for v in range(arms):
                        logits[p][v] += learning_rate * r * a * ((v == arm) - probs[v]) / (prompts * group)
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
