"""Right answers to `objective/grpo_gradient` in other styles."""

import math

import numpy as np


def with_loops(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    rows = []
    for lp, old, ref, a, marks in zip(log_probs, old_log_probs, ref_log_probs, advantages, mask, strict=True):
        length, row = sum(bool(mark) for mark in marks), []
        for x, y, z, mark in zip(lp, old, ref, marks, strict=True):
            slope = 0.0
            if mark:
                r = math.exp(x - y)
                clipped = r > 1 + clip if a > 0 else r < 1 - clip
                slope = (0.0 if clipped else r * a) - kl_coef * (1 - math.exp(z - x))
            row.append(-slope / length / len(advantages))
        rows.append(row)
    return rows


def boolean_index(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    m = np.array(mask).astype(bool)
    rows = np.nonzero(m)[0]
    lp, old, ref = (np.array(x, dtype=float)[m] for x in (log_probs, old_log_probs, ref_log_probs))
    a = np.asarray(advantages, dtype=float)[rows]
    r = np.exp(lp - old)
    slope = r * a
    slope[((a > 0) & (r > 1 + clip)) | ((a < 0) & (r < 1 - clip))] = 0.0
    gradient = np.zeros(m.shape)
    gradient[m] = (kl_coef * -np.expm1(ref - lp) - slope) / (m.sum(1)[rows] * len(m))
    return gradient


def with_einsum(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    m = np.asarray(mask, dtype=float)
    lp, old, ref = (np.array(x, dtype=float) for x in (log_probs, old_log_probs, ref_log_probs))
    for x in (lp, old, ref):
        x[m == 0] = 0.0
    a = np.asarray(advantages, dtype=float)
    ratio = np.exp(lp - old)
    pushed = ~((np.sign(a)[:, None] * (ratio - 1) > clip) & (a[:, None] != 0))
    pushed = np.where(a[:, None] > 0, ratio <= 1 + clip, np.where(a[:, None] < 0, ratio >= 1 - clip, pushed))
    surrogate = np.einsum("nt,nt,n->nt", pushed.astype(float), ratio, a)
    penalty = 1.0 - np.exp(ref - lp)
    return np.einsum("nt,n,nt->nt", m, 1 / m.sum(1), kl_coef * penalty - surrogate) / len(m)


def list_of_arrays(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    gradient = []
    for i in range(len(advantages)):
        marks, a = np.asarray(mask[i]) > 0, float(advantages[i])
        lp, old, ref = (
            np.where(marks, np.asarray(x[i], dtype=float), 0.0)
            for x in (log_probs, old_log_probs, ref_log_probs)
        )
        ratio = np.exp(lp - old)
        active = ratio <= 1 + clip if a >= 0 else ratio >= 1 - clip
        slope = ratio * a * active + kl_coef * np.expm1(-(lp - ref))
        gradient.append(np.where(marks, -slope / marks.sum() / len(advantages), 0.0))
    return gradient


def clipped_by_where(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    m = np.asarray(mask) > 0
    with np.errstate(all="ignore"):
        new, old, ref = (np.asarray(x, dtype=float) for x in (log_probs, old_log_probs, ref_log_probs))
        a = np.asarray(advantages, dtype=float)[:, None]
        ratio = np.exp(new - old)
        bound = np.where(a > 0, 1 + clip, np.inf)
        floor = np.where(a < 0, 1 - clip, -np.inf)
        inside = (ratio <= bound) & (ratio >= floor)
        slope = np.where(inside, ratio, 0.0) * a - kl_coef * (1 - np.exp(-(new - ref)))
        gradient = -slope / (m.sum(-1, keepdims=True) * m.shape[0])
    gradient[~m] = 0.0
    return gradient


def divided_step_by_step(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    marks = np.asarray(mask, dtype=float)
    count, length = marks.shape
    gradient = np.zeros((count, length))
    for i, t in zip(*np.nonzero(marks), strict=True):
        lp, old, ref = float(log_probs[i][t]), float(old_log_probs[i][t]), float(ref_log_probs[i][t])
        a, ratio = float(advantages[i]), np.exp(lp - old)
        clipped = (a > 0 and ratio > 1 + clip) or (a < 0 and ratio < 1 - clip)
        gradient[i, t] -= 0.0 if clipped else ratio * a
        gradient[i, t] += kl_coef * (1 - np.exp(ref - lp))
        gradient[i, t] /= count * marks[i].sum()
    return gradient
