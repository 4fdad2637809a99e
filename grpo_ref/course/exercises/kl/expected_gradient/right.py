"""Right answers to kl/expected_gradient in other styles."""

import math

import numpy as np
import scipy.special


def with_fsum(logits, ref_log_probs):
    top = max(float(z) for z in logits)
    total = math.fsum(math.exp(z - top) for z in logits)
    log_probs = [z - top - math.log(total) for z in logits]
    probs, ref = [math.exp(x) for x in log_probs], [math.exp(x) for x in ref_log_probs]
    v = [x - float(y) for x, y in zip(log_probs, ref_log_probs, strict=True)]
    kl = math.fsum(p * x for p, x in zip(probs, v, strict=True))
    right = [p * (x - kl) for p, x in zip(probs, v, strict=True)]
    return {
        "kl": right,
        "k1": [0.0] * len(probs),
        "k2": right,
        "k3": [p - q for p, q in zip(probs, ref, strict=True)],
    }


def sum_over_tokens(logits, ref_log_probs):
    z, ref = np.asarray(logits, dtype=float), np.asarray(ref_log_probs, dtype=float)
    log_probs = scipy.special.log_softmax(z)
    probs, eye = np.exp(log_probs), np.eye(len(z))
    sums = {name: np.zeros(len(z)) for name in ("k1", "k2", "k3")}
    for a in range(len(z)):
        score = eye[a] - probs
        sums["k1"] += probs[a] * score
        sums["k2"] += probs[a] * (log_probs[a] - ref[a]) * score
        sums["k3"] += (probs[a] - np.exp(ref[a])) * score
    return {"kl": sums["k2"].copy(), **sums}


def with_a_matrix(logits, ref_log_probs):
    log_probs = np.asarray(logits, dtype=float) - np.max(logits)
    log_probs = log_probs - np.log(np.sum(np.exp(log_probs)))
    probs = np.exp(log_probs)
    v = log_probs - np.asarray(ref_log_probs, dtype=float)
    covariance = np.diag(probs) - np.outer(probs, probs)
    odds = np.exp(np.minimum(-v, 700.0))
    slope = np.where(-v > 700.0, 0.0, 1.0 - odds)
    out_of_range = np.where(-v > 700.0, probs - np.exp(np.asarray(ref_log_probs, dtype=float)), 0.0)
    return {
        "kl": probs * (v - probs @ v),
        "k1": covariance @ np.ones(len(v)),
        "k2": covariance @ v,
        "k3": covariance @ slope + out_of_range - probs * out_of_range.sum(),
    }


def centered_slopes(logits, ref_log_probs):
    log_probs = np.asarray(logits, dtype=float) - scipy.special.logsumexp(logits)
    probs, ref = np.exp(log_probs), np.exp(np.asarray(ref_log_probs, dtype=float))
    v = log_probs - ref_log_probs
    push = probs * (v - np.average(v, weights=probs))
    return {"k3": probs - ref, "k2": push, "k1": 0.0 * probs, "kl": np.array(push)}


def with_einsum(logits, ref_log_probs):
    z = np.array(logits, dtype=float)
    probs = scipy.special.softmax(z)
    log_probs = z - z.max() - np.log(np.exp(z - z.max()).sum())
    ref = np.array(ref_log_probs, dtype=float)
    scores = np.eye(z.size) - probs
    weighted = np.stack([probs * (log_probs - ref), probs, probs * (log_probs - ref), probs - np.exp(ref)])
    kl, k1, k2, k3 = np.einsum("ka,ab->kb", weighted, scores)
    return {"kl": kl, "k1": k1, "k2": k2, "k3": k3}


def pair_by_pair(logits, ref_log_probs):
    z, ref = np.asarray(logits, dtype=float), np.asarray(ref_log_probs, dtype=float)
    log_probs = z - np.logaddexp.reduce(z)
    probs, v = np.exp(log_probs), log_probs - ref
    differences = v[:, None] - v[None, :]
    push = (probs[:, None] * probs[None, :] * differences).sum(axis=1)
    odds = np.outer(probs, np.exp(ref))
    return {"kl": push, "k1": np.zeros(z.shape), "k2": push, "k3": (odds - odds.T).sum(axis=1)}
