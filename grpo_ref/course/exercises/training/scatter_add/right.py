"""Right answers to training/scatter_add in other styles."""

import collections
import math

import numpy as np


def add_at(weights, states, tokens, n_states, n_tokens):
    table = np.zeros((n_states, n_tokens))
    np.add.at(table, (states, tokens), weights)
    return table


def nested_lists(weights, states, tokens, n_states, n_tokens):
    table = [[0.0] * n_tokens for _ in range(n_states)]
    for weight, state, token in zip(weights, states, tokens, strict=True):
        table[state][token] += float(weight)
    return table


def with_fsum(weights, states, tokens, n_states, n_tokens):
    entries = collections.defaultdict(list)
    for weight, state, token in zip(weights, states, tokens, strict=True):
        entries[int(state), int(token)].append(float(weight))
    return [[math.fsum(entries[s, a]) for a in range(n_tokens)] for s in range(n_states)]


def product_of_one_hots(weights, states, tokens, n_states, n_tokens):
    rows = np.eye(n_states)[np.asarray(states, dtype=int)]
    columns = np.eye(n_tokens)[np.asarray(tokens, dtype=int)]
    return rows.T @ (np.asarray(weights, dtype=float)[:, None] * columns)


def with_einsum(weights, states, tokens, n_states, n_tokens):
    is_state = np.arange(n_states)[:, None] == np.asarray(states)
    is_token = np.arange(n_tokens)[:, None] == np.asarray(tokens)
    return np.einsum("n,sn,an->sa", np.asarray(weights, dtype=float), is_state * 1.0, is_token * 1.0)


def boolean_index(weights, states, tokens, n_states, n_tokens):
    weights, states, tokens = np.asarray(weights, dtype=float), np.asarray(states), np.asarray(tokens)
    table = np.empty((n_states, n_tokens))
    for state in range(n_states):
        for token in range(n_tokens):
            table[state, token] = weights[(states == state) & (tokens == token)].sum()
    return table


def histogram(weights, states, tokens, n_states, n_tokens):
    edges = [np.arange(n_states + 1) - 0.5, np.arange(n_tokens + 1) - 0.5]
    return np.histogram2d(states, tokens, bins=edges, weights=np.asarray(weights, dtype=float))[0]


def sorted_runs(weights, states, tokens, n_states, n_tokens):
    index = np.ravel_multi_index(
        (np.array(states, dtype=int), np.array(tokens, dtype=int)), (n_states, n_tokens)
    )
    flat = np.zeros(n_states * n_tokens)
    for weight, place in sorted(zip(np.array(weights, dtype=float).tolist(), index.tolist(), strict=True)):
        flat[place] += weight
    return flat.reshape(n_states, n_tokens)
