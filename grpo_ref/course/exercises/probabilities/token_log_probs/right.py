"""Right answers to `probabilities/token_log_probs` in other styles."""

import math

import numpy as np
import scipy.special


def nested_lists(logits, tokens):
    def log_prob(row, token):
        largest = max(row)
        return row[token] - largest - math.log(math.fsum(math.exp(z - largest) for z in row))

    return [
        [log_prob([float(z) for z in row], int(token)) for row, token in zip(rows, its, strict=True)]
        for rows, its in zip(logits, tokens, strict=True)
    ]


def with_scipy(logits, tokens):
    z, t = np.asarray(logits, dtype=float), np.asarray(tokens)
    n, position = np.indices(t.shape)
    return scipy.special.log_softmax(z, axis=-1)[n, position, t]


def one_hot(logits, tokens):
    z, t = np.asarray(logits, dtype=float), np.asarray(tokens)
    z = z - z.max(-1, keepdims=True)
    log_probs = z - np.log(np.exp(z).sum(-1, keepdims=True))
    return np.einsum("ntv,ntv->nt", log_probs, np.eye(z.shape[-1])[t])


def the_logit_first(logits, tokens):
    z = np.asarray(logits, dtype=float)
    chosen = np.take_along_axis(z, np.asarray(tokens)[:, :, None], axis=2).squeeze(2)
    return chosen - np.logaddexp.reduce(z, axis=2)


def one_long_row(logits, tokens):
    z, t = np.asarray(logits, dtype=float), np.asarray(tokens)
    rows = z.reshape(-1, z.shape[-1])
    rows = rows - rows.max(axis=1, keepdims=True)
    chosen = rows[np.arange(len(rows)), t.ravel()]
    return (chosen - np.log(np.exp(rows).sum(axis=1))).reshape(t.shape)


def by_comparison(logits, tokens):
    z, t = np.asarray(logits, dtype=float), np.asarray(tokens)
    best = z.max(axis=-1)
    log_total = best + np.log(np.exp(z - best[..., None]).sum(axis=-1))
    is_chosen = np.arange(z.shape[-1]) == t[..., None]
    return np.where(is_chosen, z, 0.0).sum(axis=-1) - log_total


def token_by_token(logits, tokens):
    out = np.zeros(np.shape(tokens))
    for n, t in np.ndindex(out.shape):
        row = np.asarray(logits[n][t], dtype=float)
        chosen = row[tokens[n][t]]
        out[n, t] = -np.logaddexp.reduce(row - chosen)
    return out
