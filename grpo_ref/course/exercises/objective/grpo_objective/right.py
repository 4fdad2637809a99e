"""Right answers to `objective/grpo_objective` in other styles."""

import math

import numpy as np
import scipy.special


def _same_length(*inputs):
    if len({len(each) for each in inputs}) != 1:
        raise ValueError("the inputs have different lengths")


def with_fsum(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    _same_length(rhos, A, pi_theta_old, pi_theta_ref)
    gains = [min(r * a, min(max(r, 1 - epsilon), 1 + epsilon) * a) for r, a in zip(rhos, A, strict=True)]
    weights = [float(r) * float(o) for r, o in zip(rhos, pi_theta_old, strict=True)]
    total, total_ref = math.fsum(weights), math.fsum(float(q) for q in pi_theta_ref)
    terms = []
    for w, q in zip(weights, pi_theta_ref, strict=True):
        p = w / total
        terms.append(p * math.log(p / (float(q) / total_ref) + 1e-10))
    return math.fsum(float(gain) for gain in gains) / len(gains) - beta * math.fsum(terms)


def with_einsum(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    r, a, old, ref = (np.array(x, dtype=float) for x in (rhos, A, pi_theta_old, pi_theta_ref))
    if not (r.shape == a.shape == old.shape == ref.shape):
        raise ValueError("shapes differ")
    gain = np.minimum(r * a, np.maximum(1 - epsilon, np.minimum(r, 1 + epsilon)) * a)
    p = r * old / np.einsum("i,i->", r, old)
    q = ref / np.einsum("i->", ref)
    return np.einsum("i->", gain) / r.size - beta * np.einsum("i,i->", p, np.log(p / q + 1e-10))


def by_the_sign(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    try:
        r, a, old, ref = np.array([rhos, A, pi_theta_old, pi_theta_ref], dtype=float)
    except ValueError as error:
        raise ValueError("lengths differ") from error
    clipped = np.where(a > 0, np.fmin(r, 1 + epsilon), np.fmax(r, 1 - epsilon))
    p, q = np.divide(r * old, np.dot(r, old)), np.divide(ref, ref.sum())
    return np.mean(clipped * a) - beta * np.dot(p, np.log(np.add(np.divide(p, q), 1e-10)))


def stacked(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    _same_length(rhos, A, pi_theta_old, pi_theta_ref)
    r, a = np.asarray(rhos).astype(float), np.asarray(A).astype(float)
    gain = np.stack([r, r.clip(1 - epsilon, 1 + epsilon)]) * a
    weight = r * np.asarray(pi_theta_old)
    p = weight / np.sum(weight)
    q = np.asarray(pi_theta_ref) / np.sum(pi_theta_ref)
    return np.array(gain.min(axis=0).mean() - beta * np.sum(p * np.log(p / q + 1e-10)))


def with_scipy(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    lengths = list(map(len, (rhos, A, pi_theta_old, pi_theta_ref)))
    if max(lengths) != min(lengths):
        raise ValueError(lengths)
    r, a = np.array(rhos, dtype=float), np.array(A, dtype=float)
    surrogate = -np.average(np.maximum(-r * a, -np.clip(r, 1 - epsilon, 1 + epsilon) * a))
    p = r * np.array(pi_theta_old, dtype=float)
    p /= p.sum()
    q = np.array(pi_theta_ref, dtype=float)
    q /= q.sum()
    return np.float64(surrogate - beta * scipy.special.xlogy(p, p / q + 1e-10).sum())


def bound_by_bound(rhos, A, pi_theta_old, pi_theta_ref, epsilon=0.2, beta=0.01):
    for other in (A, pi_theta_old, pi_theta_ref):
        if len(other) != len(rhos):
            raise ValueError("lengths differ")
    total = 0.0
    for r, a in zip(np.asarray(rhos, dtype=float).tolist(), np.asarray(A, dtype=float).tolist(), strict=True):
        if a > 0 and r > 1 + epsilon:
            total += (1 + epsilon) * a
        elif a < 0 and r < 1 - epsilon:
            total += (1 - epsilon) * a
        else:
            total += r * a
    unnormalized = np.multiply(rhos, pi_theta_old, dtype=float)
    p = unnormalized / unnormalized.sum()
    quotient = p * np.sum(pi_theta_ref) / np.asarray(pi_theta_ref, dtype=float)
    return total / len(rhos) - beta * float((p * np.log(quotient + 1e-10)).sum())
