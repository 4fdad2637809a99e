"""Right answers to `objective/grpo_loss` in other styles."""

import math

import numpy as np


def with_fsum(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    means = []
    for lp, old, ref, a, marks in zip(log_probs, old_log_probs, ref_log_probs, advantages, mask, strict=True):
        terms = []
        for x, y, z, mark in zip(lp, old, ref, marks, strict=True):
            if mark:
                r, v = math.exp(x - y), x - z
                gain = min(r * a, max(1 - clip, min(r, 1 + clip)) * a)
                terms.append(gain - kl_coef * (math.exp(-v) - 1 + v))
        means.append(math.fsum(terms) / len(terms))
    return -math.fsum(means) / len(means)


def boolean_index(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    m = np.array(mask).astype(bool)
    rows = np.nonzero(m)[0]
    lp, old, ref = (np.array(x, dtype=float)[m] for x in (log_probs, old_log_probs, ref_log_probs))
    a = np.asarray(advantages, dtype=float)[rows]
    r = np.exp(lp - old)
    clipped = np.where(a > 0, np.minimum(r, 1 + clip), np.maximum(r, 1 - clip))
    gain = clipped * a - kl_coef * (np.expm1(ref - lp) - (ref - lp))
    return -np.sum(gain / m.sum(1)[rows]) / len(m)


def with_einsum(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    m = np.asarray(mask, dtype=float)
    lp, old, ref = (np.array(x, dtype=float) for x in (log_probs, old_log_probs, ref_log_probs))
    for x in (lp, old, ref):
        x[m == 0] = 0.0
    a = np.asarray(advantages, dtype=float)[:, np.newaxis]
    r, v = np.exp(lp - old), lp - ref
    surrogate = np.minimum(r * a, np.maximum(1 - clip, np.minimum(r, 1 + clip)) * a)
    weights = np.einsum("nt,n->nt", m, 1 / np.einsum("nt->n", m))
    return np.einsum("nt,nt->", -weights, surrogate - kl_coef * (np.exp(-v) - 1.0 + v)) / len(m)


def surrogate_and_penalty_apart(
    log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04
):
    present = np.asarray(mask) != 0
    lengths = np.count_nonzero(present, axis=1)

    def sequence_mean(x):
        return np.mean(np.sum(x, axis=1, where=present) / lengths)

    lp, old, ref = (np.asarray(x, dtype=float) for x in (log_probs, old_log_probs, ref_log_probs))
    a = np.asarray(advantages, dtype=float).reshape(-1, 1)
    with np.errstate(all="ignore"):
        ratio = np.exp(lp - old)
        surrogate = np.minimum(ratio * a, np.clip(ratio, 1 - clip, 1 + clip) * a)
        penalty = np.exp(ref - lp) - 1 - (ref - lp)
    return np.array(kl_coef * sequence_mean(penalty) - sequence_mean(surrogate))


def row_by_row(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    total = 0.0
    for i in range(len(advantages)):
        keep = np.flatnonzero(np.asarray(mask[i]))
        lp, old, ref = (
            np.asarray(x[i], dtype=float)[keep] for x in (log_probs, old_log_probs, ref_log_probs)
        )
        ratio, v = np.exp(lp - old), lp - ref
        losses = np.maximum(-ratio * advantages[i], -np.clip(ratio, 1 - clip, 1 + clip) * advantages[i])
        total += (losses + kl_coef * (np.exp(-v) + v - 1)).mean()
    return np.float64(total / len(advantages))


def bound_by_bound(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    m = np.asarray(mask) > 0
    new, old, ref = (np.where(m, x, 0.0) for x in (log_probs, old_log_probs, ref_log_probs))
    a = np.broadcast_to(np.asarray(advantages, dtype=float)[:, None], m.shape)
    ratio = np.exp(new - old)
    high = (a > 0) & (ratio > 1 + clip)
    low = (a < 0) & (ratio < 1 - clip)
    used = np.select([high, low], [1 + clip, 1 - clip], default=ratio)
    k3 = np.exp(ref) / np.exp(new) - 1 + (new - ref) if new.min() > -600 else np.expm1(ref - new) + new - ref
    return -np.average(((used * a - kl_coef * k3) * m).sum(1) / m.sum(1))
