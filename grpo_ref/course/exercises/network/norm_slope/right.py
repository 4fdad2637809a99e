"""Right answers to network/norm_slope in other styles."""

import math

import numpy as np


def with_fsum(x, gain, slope):
    if np.ndim(x) == 3:
        each = [with_fsum(*one) for one in zip(x, [gain] * len(x), slope, strict=True)]
        return [one[0] for one in each], [
            math.fsum(column) for column in zip(*(one[1] for one in each), strict=True)
        ]
    size = len(gain)
    of_x, columns = [], [[] for _ in range(size)]
    for row, pushes in zip(x, slope, strict=True):
        numbers = [float(number) for number in row]
        scale = 1.0 / math.sqrt(math.fsum(number * number for number in numbers) / size + 1e-6)
        inner = [float(g) * float(push) for g, push in zip(gain, pushes, strict=True)]
        share = math.fsum(e * number for e, number in zip(inner, numbers, strict=True)) * scale / size
        of_x.append([scale * (e - number * scale * share) for e, number in zip(inner, numbers, strict=True)])
        for place in range(size):
            columns[place].append(float(pushes[place]) * numbers[place] * scale)
    return of_x, [math.fsum(column) for column in columns]


def with_einsum(x, gain, slope):
    rows, g, s = np.asarray(x, dtype=float), np.asarray(gain, dtype=float), np.asarray(slope, dtype=float)
    mean_square = np.einsum("...d,...d->...", rows, rows) / rows.shape[-1]
    r = (mean_square + 1e-6) ** -0.5
    n = np.einsum("...d,...->...d", rows, r)
    share = np.einsum("d,...d,...d->...", g, s, n) / rows.shape[-1]
    of_x = np.einsum("...,...d->...d", r, g * s - share[..., None] * n)
    return of_x, np.einsum("nd,nd->d", s.reshape(-1, s.shape[-1]), n.reshape(-1, s.shape[-1]))


def with_a_jacobian(x, gain, slope):
    x, gain, slope = (np.asarray(each, dtype=float) for each in (x, gain, slope))
    flat, pushes = x.reshape(-1, x.shape[-1]), slope.reshape(-1, x.shape[-1])
    size = flat.shape[1]
    of_x, of_gain = np.empty(flat.shape), np.zeros(size)
    for i, row in enumerate(flat):
        r = 1.0 / np.sqrt(row.dot(row) / size + 1e-6)
        jacobian = r * np.eye(size) - r**3 * np.outer(row, row) / size
        of_x[i] = jacobian @ (gain * pushes[i])
        of_gain += pushes[i] * row * r
    return of_x.reshape(x.shape), of_gain


def by_the_two_ways(x, gain, slope):
    x, gain, slope = (np.array(each, dtype=float) for each in (x, gain, slope))
    size = x.shape[-1]
    mean_square = np.sum(x * x, axis=-1, keepdims=True) / size
    r = 1 / np.sqrt(mean_square + 1e-6)
    of_n = slope * gain
    of_r = np.sum(of_n * x, axis=-1, keepdims=True)
    of_x = of_n * r - of_r * np.power(r, 3) * x / size
    return of_x, np.sum(slope * x * r, axis=tuple(range(x.ndim - 1)))


def step_by_step(x, gain, slope):
    x, gain, slope = (np.asarray(each, dtype=float) for each in (x, gain, slope))
    root = np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + 1e-6)
    n = np.divide(x, root)
    of_n = np.multiply(slope, gain)
    of_root = -np.sum(of_n * x, axis=-1, keepdims=True) / root**2
    of_mean_square = of_root / (2 * root)
    of_x = of_n / root + of_mean_square * 2 * x / x.shape[-1]
    of_gain = slope * n
    while of_gain.ndim > 1:
        of_gain = of_gain.sum(axis=0)
    return of_x, of_gain


def row_by_row(x, gain, slope):
    x, gain, slope = (np.asarray(each, dtype=float) for each in (x, gain, slope))
    of_x, of_gain = np.zeros_like(x), np.zeros_like(gain)
    for place in np.ndindex(x.shape[:-1]):
        length = np.sqrt(np.dot(x[place], x[place]) / len(gain) + 1e-6)
        direction = x[place] / length
        inner = gain * slope[place]
        of_x[place] = (inner - direction * np.dot(inner, direction) / len(gain)) / length
        of_gain += slope[place] * direction
    return [of_x, of_gain]


def columns_first(x, gain, slope):
    rows = np.asarray(x, dtype=float).T
    pushes = np.asarray(slope, dtype=float).T
    g = np.asarray(gain, dtype=float).reshape(-1, *[1] * (rows.ndim - 1))
    r = np.reciprocal(np.sqrt((rows**2).mean(axis=0) + 1e-6))
    n = rows * r
    inner = g * pushes
    of_x = (r * (inner - n * (inner * n).mean(axis=0))).T
    return of_x, (n * pushes).reshape(len(rows), -1).sum(axis=1)


def without_cancellation(x, gain, slope):
    x, gain, slope = (np.asarray(each, dtype=float) for each in (x, gain, slope))
    c = ((x**2).mean(-1, keepdims=True) + 1e-6) ** -0.5
    e = gain * slope
    pairs = x[..., None, :] * (e[..., :, None] * x[..., None, :] - e[..., None, :] * x[..., :, None])
    x_slope = c**3 * (1e-6 * e + pairs.mean(-1))
    return x_slope, (slope * c * x).sum(tuple(range(x.ndim - 1)))
