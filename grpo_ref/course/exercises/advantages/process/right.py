"""Right answers to advantages/process in other styles."""

import math

import numpy as np


def with_fsum(step_rewards, step_ends, eps=1e-4):
    out = []
    for rewards, ends in zip(step_rewards, step_ends, strict=True):
        steps = [
            float(r)
            for row, flags in zip(rewards, ends, strict=True)
            for r, flag in zip(row, flags, strict=True)
            if flag
        ]
        mean = math.fsum(steps) / max(len(steps), 1)
        std = math.sqrt(math.fsum((r - mean) ** 2 for r in steps) / max(len(steps), 1))
        group = []
        for row, flags in zip(rewards, ends, strict=True):
            total, line = 0.0, []
            for r, flag in zip(list(row)[::-1], list(flags)[::-1], strict=True):
                if flag:
                    total += (float(r) - mean) / (std + eps)
                line.append(total)
            group.append(line[::-1])
        out.append(group)
    return out


def group_by_group(step_rewards, step_ends, eps=1e-4):
    rewards, ends = np.asarray(step_rewards, dtype=float), np.asarray(step_ends).astype(bool)
    out = np.zeros(rewards.shape)
    for p in range(len(rewards)):
        steps = rewards[p][ends[p]]
        if steps.size == 0:
            continue
        out[p][ends[p]] = (steps - steps.mean()) / (steps.std() + eps)
    return np.flip(np.cumsum(np.flip(out, 2), 2), 2)


def by_a_triangle(step_rewards, step_ends, eps=1e-4):
    ends = np.asarray(step_ends) != 0
    rewards = np.zeros(ends.shape)
    rewards[ends] = np.asarray(step_rewards, dtype=float)[ends]
    count = np.einsum("pgt->p", ends.astype(int))[:, None, None]
    count = np.where(count == 0, 1, count)
    centered = (rewards - np.einsum("pgt->p", rewards)[:, None, None] / count) * ends
    std = np.sqrt(np.einsum("pgt,pgt->p", centered, centered)[:, None, None] / count)
    return centered / (std + eps) @ np.tri(ends.shape[-1])


def with_masked_arrays(step_rewards, step_ends, eps=1e-4):
    ends = np.array(step_ends, dtype=bool)
    steps = np.ma.masked_array(np.where(ends, np.array(step_rewards, dtype=float), 0.0), mask=~ends)
    flat = steps.reshape(len(steps), -1)
    mean = flat.mean(axis=1).filled(0.0)[:, None, None]
    std = flat.std(axis=1).filled(0.0)[:, None, None]
    scores = ((steps - mean) / (std + eps)).filled(0.0)
    return np.add.accumulate(scores[:, :, ::-1], axis=2)[:, :, ::-1]


def total_less_what_is_over(step_rewards, step_ends, eps=1e-4):
    ends = np.asarray(step_ends, dtype=float) > 0.5
    rewards = np.asarray(step_rewards, dtype=float)
    mean = np.mean(rewards, axis=(1, 2), keepdims=True, where=ends | ~ends.any((1, 2), keepdims=True))
    mean = np.where(ends.any((1, 2), keepdims=True), mean, 0.0)
    gaps = np.where(ends, rewards, mean) - mean
    std = np.sqrt(np.square(gaps).sum((1, 2), keepdims=True) / np.maximum(ends.sum((1, 2), keepdims=True), 1))
    scores = gaps / (eps + std)
    return scores.sum(-1, keepdims=True) - np.cumsum(scores, axis=-1) + scores


def backwards_over_the_tokens(step_rewards, step_ends, eps=1e-4):
    ends = np.asarray(step_ends) == 1
    rewards = np.where(ends, np.asarray(step_rewards, dtype=float), np.nan)
    out = np.zeros(rewards.shape)
    for p in np.flatnonzero(ends.any(axis=(1, 2))):
        mean, std = np.nanmean(rewards[p]), np.nanstd(rewards[p])
        running = np.zeros(rewards.shape[1])
        for t in reversed(range(rewards.shape[2])):
            running = running + np.nan_to_num((rewards[p, :, t] - mean) / (std + eps))
            out[p, :, t] = running
    return out


def step_by_step(step_rewards, step_ends, eps=1e-4):
    ends = np.argwhere(np.asarray(step_ends))
    rewards = np.asarray(step_rewards, dtype=float)
    out = np.zeros(rewards.shape)
    groups = {}
    for p, i, t in ends:
        groups.setdefault(p, []).append(rewards[p, i, t])
    means = {p: sum(steps) / len(steps) for p, steps in groups.items()}
    scales = {p: math.dist(steps, [means[p]] * len(steps)) / len(steps) ** 0.5 for p, steps in groups.items()}
    for p, i, t in ends:
        out[p, i, : t + 1] += (rewards[p, i, t] - means[p]) / (scales[p] + eps)
    return out


def with_bincount(step_rewards, step_ends, eps=1e-4):
    ends = np.asarray(step_ends, dtype=bool)
    prompt, _, _ = np.nonzero(ends)
    steps = np.asarray(step_rewards, dtype=float)[ends]
    count = np.maximum(np.bincount(prompt, minlength=len(ends)), 1)
    gaps = steps - (np.bincount(prompt, steps, minlength=len(ends)) / count)[prompt]
    std = (np.bincount(prompt, gaps**2, minlength=len(ends)) / count) ** 0.5
    scores = np.zeros(ends.shape)
    scores[ends] = gaps / (std[prompt] + eps)
    later = np.arange(ends.shape[2])[:, None] <= np.arange(ends.shape[2])
    return np.einsum("pgs,ts->pgt", scores, later)
