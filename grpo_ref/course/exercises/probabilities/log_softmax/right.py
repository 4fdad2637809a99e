"""Right answers to `probabilities/log_softmax` in other styles."""

import math

import numpy as np
import scipy.special


def nested_lists(logits):
    logits = logits.tolist() if isinstance(logits, np.ndarray) else logits
    if isinstance(logits[0], list):
        return [nested_lists(row) for row in logits]
    largest = max(logits)
    total = math.log(math.fsum(math.exp(z - largest) for z in logits))
    return [z - largest - total for z in logits]


def with_scipy(logits):
    z = np.asarray(logits, dtype=float)
    return z - scipy.special.logsumexp(z, axis=-1, keepdims=True)


def with_logaddexp(logits):
    z = np.asarray(logits, dtype=float)
    return z - np.logaddexp.reduce(z, axis=-1)[..., None]


def with_einsum(logits):
    z = np.array(logits, dtype=np.float64)
    z -= np.amax(z, axis=-1)[..., np.newaxis]
    return z - np.log(np.einsum("...v->...", np.exp(z)))[..., None]


def the_vocabulary_first(logits):
    z = np.moveaxis(np.asarray(logits, dtype=float), -1, 0)
    above = z - z.max(axis=0)
    return np.moveaxis(above - np.log(sum(np.exp(above))), 0, -1)


def against_each_other_token(logits):
    z = np.asarray(logits, dtype=float)
    return -np.logaddexp.reduce(z[..., None, :] - z[..., :, None], axis=-1)


def row_by_row(logits):
    z = np.asarray(logits, dtype=float)
    rows = z.reshape(-1, z.shape[-1])
    out = np.empty_like(rows)
    for n, row in enumerate(rows):
        best = int(np.argmax(row))
        others = np.delete(row, best) - row[best]
        out[n] = row - row[best] - np.log1p(np.exp(others).sum())
    return out.reshape(z.shape)
