"""Right answers to advantages/gdpo in other styles."""

import math

import numpy as np
import scipy.stats


def with_fsum(components, weights, eps=1e-4):
    def normalized(numbers):
        mean = math.fsum(numbers) / len(numbers)
        std = math.sqrt(math.fsum((x - mean) ** 2 for x in numbers) / len(numbers))
        return [(x - mean) / (std + eps) for x in numbers]

    totals = []
    for group in np.asarray(components, dtype=float).tolist():
        columns = [normalized(column) for column in zip(*group, strict=True)]
        for scores in zip(*columns, strict=True):
            totals.append(math.fsum(float(w) * a for w, a in zip(weights, scores, strict=True)))
    rows = iter(normalized(totals))
    return [[next(rows) for _ in group] for group in components]


def with_einsum(components, weights, eps=1e-4):
    r, w = np.asarray(components, dtype=float), np.asarray(weights, dtype=float)
    size = r.shape[1]
    centered = r - np.einsum("pgk->pk", r)[:, None] / size
    std = np.sqrt(np.einsum("pgk,pgk->pk", centered, centered) / size)
    total = np.einsum("pgk,k->pg", centered / (std[:, None] + eps), w)
    total = total - total.mean()
    return total / (np.linalg.norm(total) / math.sqrt(total.size) + eps)


def criterion_by_criterion(components, weights, eps=1e-4):
    r = np.asarray(components, dtype=float)
    total = np.zeros(r.shape[:2])
    for k, weight in enumerate(weights):
        column = r[:, :, k]
        total += weight * (column - column.mean(1)[:, None]) / (column.std(1)[:, None] + eps)
    return (total - np.mean(total)) / (np.std(total) + eps)


def prompt_by_prompt(components, weights, eps=1e-4):
    totals = []
    for group in components:
        group = np.asarray(group, dtype=float)
        totals.append(((group - group.mean(0)) / (group.std(0) + eps)).dot(weights))
    flat = np.concatenate(totals)
    return [(total - flat.mean()) / (flat.std() + eps) for total in totals]


def criteria_first(components, weights, eps=1e-4):
    r = np.moveaxis(np.asarray(components, dtype=float), 2, 0)
    each = (r - r.mean(axis=-1, keepdims=True)) / (r.std(axis=-1, keepdims=True) + eps)
    total = np.tensordot(np.asarray(weights, dtype=float), each, axes=1)
    return (total - total.mean()) / (total.std() + eps)


def with_scipy(components, weights, eps=1e-4):
    r = np.asarray(components, dtype=float)
    std = np.sqrt(scipy.stats.moment(r, order=2, axis=1))
    each = (r - r.mean(axis=1)[:, None, :]) / (std[:, None, :] + eps)
    total = (each * np.reshape(weights, (1, 1, -1))).sum(axis=2)
    return (total - total.mean()) / (np.sqrt(total.var()) + eps)


def by_projection(components, weights, eps=1e-4):
    r, w = np.asarray(components, dtype=float), np.asarray(weights, dtype=float)
    size = r.shape[1]
    center = np.eye(size) - 1 / size
    centered = center @ r
    total = (centered / (np.sqrt((centered**2).mean(1, keepdims=True)) + eps)) @ w
    total -= total.sum() / total.size
    return total / (eps + np.sqrt(np.square(total).mean()))
