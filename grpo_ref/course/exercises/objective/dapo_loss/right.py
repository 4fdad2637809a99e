"""Right answers to `objective/dapo_loss` in other styles."""

import math
import statistics

import numpy as np


def with_fsum(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28):
    terms = []
    for lp, old, scores, marks in zip(log_probs, old_log_probs, rewards, mask, strict=True):
        scores = [float(score) for score in scores]
        if max(scores) == min(scores):
            continue
        mean, std = math.fsum(scores) / len(scores), statistics.pstdev(scores)
        for g, score in enumerate(scores):
            a = (score - mean) / (std + 1e-4)
            for t in range(len(marks[g])):
                if marks[g][t]:
                    ratio = math.exp(lp[g][t] - old[g][t])
                    terms.append(min(ratio * a, max(1 - clip_low, min(ratio, 1 + clip_high)) * a))
    return -math.fsum(terms) / len(terms) if terms else 0.0


def boolean_index(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28):
    r = np.array(rewards, dtype=float)
    centered = r - r.mean(axis=1)[:, None]
    a = centered / (np.sqrt((centered**2).mean(axis=1)) + 1e-4)[:, None]
    m = np.array(mask).astype(bool)
    m[np.ptp(r, axis=1) == 0] = False
    if not m.any():
        return np.float64(0)
    ratio = np.exp((np.asarray(log_probs, dtype=float)[m]) - np.asarray(old_log_probs, dtype=float)[m])
    a = np.repeat(a[:, :, None], m.shape[2], axis=2)[m]
    clipped = np.where(a > 0, np.minimum(ratio, 1 + clip_high), np.maximum(ratio, 1 - clip_low))
    return -(clipped * a).mean()


def with_einsum(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28):
    m = np.asarray(mask, dtype=float)
    r = np.asarray(rewards, dtype=float)
    lp, old = (np.array(x, dtype=float) for x in (log_probs, old_log_probs))
    lp[m == 0] = 0.0
    old[m == 0] = 0.0
    is_mixed = np.any(r != r[:, :1], axis=1).astype(float)
    a = (r - r.mean(1, keepdims=True)) / (r.std(1, keepdims=True) + 1e-4)
    ratio = np.exp(lp - old)
    gain = np.minimum(
        np.einsum("pgt,pg->pgt", ratio, a),
        np.einsum("pgt,pg->pgt", np.clip(ratio, 1 - clip_low, 1 + clip_high), a),
    )
    count = np.einsum("pgt,p->", m, is_mixed)
    return -np.einsum("pgt,pgt,p->", gain, m, is_mixed) / count if count else 0


def group_by_group(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28):
    total, count = 0.0, 0
    for p in range(len(rewards)):
        r = np.asarray(rewards[p], dtype=float)
        if len(np.unique(r)) < 2:
            continue
        present = np.asarray(mask[p]) > 0
        a = ((r - np.mean(r)) / (np.std(r) + 1e-4))[:, np.newaxis]
        new, old = (np.where(present, np.asarray(x[p], dtype=float), 0.0) for x in (log_probs, old_log_probs))
        ratio = np.exp(new - old)
        losses = np.maximum(-ratio * a, -np.clip(ratio, 1 - clip_low, 1 + clip_high) * a)
        total += np.sum(losses, where=present)
        count += np.count_nonzero(present)
    return np.array(total / max(count, 1))


def only_the_groups_that_count(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28):
    r = np.asarray(rewards, dtype=float)
    keep = r.max(-1) > r.min(-1)
    r, m = r[keep], np.asarray(mask)[keep] != 0
    new, old = np.asarray(log_probs, dtype=float)[keep], np.asarray(old_log_probs, dtype=float)[keep]
    a = (r - r.mean(-1, keepdims=True)) / (r.std(-1, keepdims=True) + 1e-4)
    with np.errstate(all="ignore"):
        ratio = np.exp(new - old)
        gain = np.minimum(ratio * a[..., None], ratio.clip(1 - clip_low, 1 + clip_high) * a[..., None])
    return float(-np.sum(gain, where=m) / max(m.sum(), 1))


def tokens_in_a_row(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28):
    r = np.asarray(rewards, dtype=float)
    prompts, members, times = np.nonzero(np.asarray(mask))
    mixed = np.array([len(set(row.tolist())) > 1 for row in r])
    kept = mixed[prompts]
    prompts, members, times = prompts[kept], members[kept], times[kept]
    a = (r[prompts, members] - r.mean(1)[prompts]) / (np.sqrt(r.var(1)) + 1e-4)[prompts]
    tokens = (prompts, members, times)
    ratio = np.exp(
        np.asarray(log_probs, dtype=float)[tokens] - np.asarray(old_log_probs, dtype=float)[tokens]
    )
    bound = np.where(a > 0, 1 + clip_high, 1 - clip_low)
    is_clipped = ((a > 0) & (ratio > bound)) | ((a < 0) & (ratio < bound))
    return -np.sum(np.where(is_clipped, bound, ratio) * a) / (len(a) or 1)
