"""Right answers to aggregation/completion_mask in other styles."""

import itertools

import numpy as np


def with_a_flag(tokens, eos):
    mask = np.zeros(np.shape(tokens))
    for i, row in enumerate(np.asarray(tokens)):
        for t, token in enumerate(row):
            mask[i, t] = 1.0
            if token == eos:
                break
    return mask


def by_the_first_index(tokens, eos):
    tokens = np.asarray(tokens)
    length = tokens.shape[1]
    ends = np.concatenate([tokens == eos, np.ones((len(tokens), 1), dtype=bool)], axis=1)
    return (np.arange(length) <= ends.argmax(axis=1)[:, None]).astype(int)


def lists_of_lists(tokens, eos):
    rows = []
    for row in np.asarray(tokens).tolist():
        length = row.index(eos) + 1 if eos in row else len(row)
        rows.append([1] * length + [0] * (len(row) - length))
    return rows


def by_a_running_product(tokens, eos):
    going_on = (np.asarray(tokens) != eos).astype(float)
    shifted = np.ones_like(going_on)
    shifted[:, 1:] = going_on[:, :-1]
    return np.cumprod(shifted, axis=1)


def by_a_running_maximum(tokens, eos):
    is_end = np.asarray(tokens) == eos
    seen = np.logical_or.accumulate(is_end, axis=-1)
    return ~seen | (seen & (np.cumsum(is_end, axis=-1) == 1) & is_end)


def list_of_arrays(tokens, eos):
    def row_mask(row):
        counts = list(itertools.accumulate((int(token == eos) for token in row), initial=0))
        return np.array([1.0 if count == 0 else 0.0 for count in counts[: len(row)]])

    return [row_mask(row) for row in tokens]


def broadcast_over_pairs(tokens, eos):
    is_end = np.asarray(tokens) == eos
    length = is_end.shape[-1]
    earlier = np.tri(length, length, -1, dtype=bool)
    return np.where((is_end[:, None, :] & earlier).any(-1), 0.0, 1.0)
