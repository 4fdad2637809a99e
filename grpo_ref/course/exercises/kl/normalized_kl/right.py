"""Right answers to kl/normalized_kl in other styles."""

import math

import numpy as np
import scipy.special


def with_fsum(rhos, pi_theta_old, pi_theta_ref):
    joint = [float(r) * float(o) for r, o in zip(rhos, pi_theta_old, strict=True)]
    total, ref_total = math.fsum(joint), math.fsum(map(float, pi_theta_ref))
    terms = []
    for x, y in zip(joint, pi_theta_ref, strict=True):
        p, q = x / total, y / ref_total
        terms.append(p * math.log(p / q + 1e-10))
    return math.fsum(terms)


def with_average(rhos, pi_theta_old, pi_theta_ref):
    weights = np.multiply(rhos, pi_theta_old, dtype=float)
    shares = np.array(pi_theta_ref, dtype=float) / np.sum(pi_theta_ref)
    return np.average(np.log(weights / weights.sum() / shares + 1e-10), weights=weights)


def with_xlogy(rhos, pi_theta_old, pi_theta_ref):
    p = np.asarray(rhos, dtype=float) * np.asarray(pi_theta_old, dtype=float)
    p /= p.sum()
    q = np.asarray(pi_theta_ref, dtype=float)
    q = q / q.sum()
    return np.array(scipy.special.xlogy(p, p / q + 1e-10).sum())


def with_einsum(rhos, pi_theta_old, pi_theta_ref):
    old, ref = np.asarray(pi_theta_old, dtype=float), np.asarray(pi_theta_ref, dtype=float)
    rho = np.asarray(rhos, dtype=float)
    p = np.einsum("g,g->g", rho, old) / np.einsum("g,g->", rho, old)
    q = ref / np.linalg.norm(ref, 1)
    return np.einsum("g,g->", p, np.log(p / q + 1e-10))


def old_policy_first(rhos, pi_theta_old, pi_theta_ref):
    old = np.asarray(pi_theta_old, dtype=float) / np.sum(pi_theta_old)
    new = np.asarray(rhos, dtype=float) * old
    new = new / new.sum()
    ref = np.asarray(pi_theta_ref, dtype=float) / np.sum(pi_theta_ref)
    return np.vdot(new, np.log(new / ref + 1e-10))


def one_quotient(rhos, pi_theta_old, pi_theta_ref):
    x = np.asarray(rhos, dtype=float) * np.asarray(pi_theta_old, dtype=float)
    y = np.asarray(pi_theta_ref, dtype=float)
    quotient = (x / y) * (y.sum() / x.sum())
    return float(x @ np.log(quotient + 1e-10) / x.sum())


def possible_ones(rhos, pi_theta_old, pi_theta_ref):
    p = np.array(rhos, dtype=float) * np.array(pi_theta_old, dtype=float)
    q = np.array(pi_theta_ref, dtype=float) / sum(pi_theta_ref)
    p, q = p[p > 0] / p.sum(), q[p > 0]
    return np.sum(p * (np.log(p + 1e-10 * q) - np.log(q)))
