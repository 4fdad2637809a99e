"""Right answers to advantages/ranks in other styles."""

import numpy as np
import scipy.stats


def counting(rewards):
    rows = []
    for row in np.asarray(rewards).tolist():
        if len(row) == 1:
            rows.append([0.0])
            continue
        better = [sum(y > x for y in row) for x in row]
        equal = [row.count(x) for x in row]
        ranks = [1 + b + (e - 1) / 2 for b, e in zip(better, equal, strict=True)]
        rows.append([2 - 4 * (rank - 1) / (len(row) - 1) for rank in ranks])
    return rows


def with_rankdata(rewards):
    r = np.asarray(rewards, dtype=float)
    size = r.shape[1]
    ranks = scipy.stats.rankdata(-r, axis=1)
    return 2 - 4 * (ranks - 1) / (size - 1) if size > 1 else np.zeros(r.shape)


def sorted_places(rewards):
    r = np.asarray(rewards, dtype=float)
    out = np.zeros(r.shape)
    for p, row in enumerate(r):
        ordered = sorted(row, reverse=True)
        for g, x in enumerate(row):
            places = [place for place, y in enumerate(ordered) if y == x]
            out[p, g] = 2 - 4 * np.mean(places) / max(len(row) - 1, 1)
    return out if r.shape[1] > 1 else 0 * out


def with_searchsorted(rewards):
    rows = []
    for row in rewards:
        ordered = np.sort(row)
        below = np.searchsorted(ordered, row, side="left")
        up_to = np.searchsorted(ordered, row, side="right")
        lead = below + up_to - len(row)
        rows.append(2.0 * lead / max(len(row) - 1, 1))
    return rows


def with_unique(rewards):
    out = []
    for row in np.asarray(rewards, dtype=float):
        _, place, counts = np.unique(-row, return_inverse=True, return_counts=True)
        before = np.cumsum(counts) - counts
        ranks = (before + (counts - 1) / 2)[place.ravel()]
        out.append(2 - 4 * ranks / (row.size - 1) if row.size > 1 else np.zeros(1))
    return np.array(out)


def mean_sign(rewards):
    r = np.array(rewards, dtype=np.float64)
    size = r.shape[-1]
    if size == 1:
        return np.zeros_like(r)
    signs = np.greater(r[..., :, None], r[..., None, :]).astype(int)
    return np.einsum("pij->pi", signs - signs.transpose(0, 2, 1)) * 2.0 / (size - 1)


def twice_argsort(rewards):
    r = np.asarray(rewards, dtype=float)
    forward = np.argsort(np.argsort(-r, axis=1, kind="stable"), axis=1)
    turned = np.argsort(np.argsort(-r[:, ::-1], axis=1, kind="stable"), axis=1)[:, ::-1]
    if r.shape[1] == 1:
        return np.zeros(r.shape)
    return 2 - 4 * (forward + turned) / 2 / (r.shape[1] - 1)
