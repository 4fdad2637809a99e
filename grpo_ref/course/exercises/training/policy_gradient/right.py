"""Right answers to training/policy_gradient in other styles."""

import math

import numpy as np
import scipy.special


def with_fsum(logits, tokens, gradient):
    rows = []
    for row, token, g in zip(logits, tokens, gradient, strict=True):
        top = max(float(z) for z in row)
        weights = [math.exp(float(z) - top) for z in row]
        total = math.fsum(weights)
        rows.append([float(g) * ((a == token) - w / total) for a, w in enumerate(weights)])
    return rows


def list_of_arrays(logits, tokens, gradient):
    rows = []
    for n in range(len(logits)):
        row = -scipy.special.softmax(np.asarray(logits[n], dtype=float))
        row[tokens[n]] += 1.0
        rows.append(float(gradient[n]) * row)
    return rows


def with_a_jacobian(logits, tokens, gradient):
    probs = scipy.special.softmax(np.asarray(logits, dtype=float), axis=1)
    vocabulary = probs.shape[1]
    jacobian = np.eye(vocabulary)[None] - probs[:, None, :]
    picked = jacobian[np.arange(len(probs)), np.asarray(tokens)]
    return np.einsum("n,nv->nv", np.asarray(gradient, dtype=float), picked)


def subtract_at_the_token(logits, tokens, gradient):
    z = np.array(logits, dtype=float)
    log_probs = z - scipy.special.logsumexp(z, axis=-1, keepdims=True)
    g = np.array(gradient, dtype=float)
    result = -g[:, np.newaxis] * np.exp(log_probs)
    result[np.arange(len(z)), tokens] += g
    return result


def by_comparison(logits, tokens, gradient):
    z = np.asarray(logits, dtype=float).T
    weights = np.exp(z - z.max(axis=0))
    is_token = np.arange(len(z))[:, None] == np.asarray(tokens)
    return (np.asarray(gradient, dtype=float) * (is_token - weights / weights.sum(axis=0))).T


def upstream_first(logits, tokens, gradient):
    z = np.asarray(logits, dtype=float)
    upstream = np.zeros(z.shape)
    np.put_along_axis(
        upstream, np.asarray(tokens)[:, None], np.asarray(gradient, dtype=float)[:, None], axis=1
    )
    probs = np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True))
    return upstream - probs * upstream.sum(axis=1, keepdims=True)


def share_of_the_others(logits, tokens, gradient):
    table = []
    for row, token, g in zip(logits, tokens, gradient, strict=True):
        top = max(float(each) for each in row)
        weights = [math.exp(float(each) - top) for each in row]
        others = math.fsum(w for a, w in enumerate(weights) if a != token)
        total = math.fsum(weights)
        table.append([float(g) * (others if a == token else -w) / total for a, w in enumerate(weights)])
    return table
