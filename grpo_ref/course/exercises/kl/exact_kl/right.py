"""Right answers to kl/exact_kl in other styles."""

import math

import numpy as np
import scipy.special


def with_fsum(probs, ref_probs):
    if np.ndim(probs) > 1:
        return [with_fsum(p, q) for p, q in zip(probs, ref_probs, strict=True)]
    pairs = zip(np.asarray(probs).tolist(), np.asarray(ref_probs).tolist(), strict=True)
    return math.fsum(p * (math.log(p) - math.log(q)) for p, q in pairs if p > 0)


def with_rel_entr(probs, ref_probs):
    return scipy.special.rel_entr(probs, ref_probs).sum(axis=-1)


def entropies(probs, ref_probs):
    p, q = np.array(probs, dtype=float), np.array(ref_probs, dtype=float)
    return scipy.special.xlogy(p, p).sum(-1) - scipy.special.xlogy(p, q).sum(-1)


def boolean_index(probs, ref_probs):
    p, q = np.asarray(probs, dtype=float), np.asarray(ref_probs, dtype=float)
    possible = p > 0
    terms = np.zeros(p.shape)
    terms[possible] = p[possible] * np.log(p[possible] / q[possible])
    return np.add.reduce(terms, axis=-1)


def with_einsum(probs, ref_probs):
    p, q = np.asarray(probs, dtype=float), np.asarray(ref_probs, dtype=float)
    quotient = np.divide(p, q, out=np.ones_like(p), where=p != 0)
    return np.einsum("...v,...v->...", p, np.log(quotient))


def without_nan(probs, ref_probs):
    p, q = np.asarray(probs, dtype=float), np.asarray(ref_probs, dtype=float)
    with np.errstate(all="ignore"):
        return np.nansum(p * (np.log(p) - np.log(q)), axis=-1)


def row_by_row(probs, ref_probs):
    p, q = np.atleast_2d(np.asarray(probs, dtype=float)), np.atleast_2d(np.asarray(ref_probs, dtype=float))
    shape = p.shape[:-1] if np.ndim(probs) > 1 else ()
    rows = zip(p.reshape(-1, p.shape[-1]), q.reshape(-1, q.shape[-1]), strict=True)
    sums = [-np.sum(a[a > 0] * np.log(b[a > 0] / a[a > 0])) for a, b in rows]
    return np.reshape(sums, shape)


def never_negative(probs, ref_probs):
    p, q = np.asarray(probs, dtype=float), np.asarray(ref_probs, dtype=float)
    log_p, log_q = (np.log(np.where(p > 0, x, 1.0)) for x in (p, q))
    return np.maximum(np.einsum("...v,...v->...", p, log_p - log_q), 0.0)
