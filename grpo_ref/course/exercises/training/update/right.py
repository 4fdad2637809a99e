"""Right answers to training/update in other styles."""

import math

import numpy as np
import scipy.special


def with_loops(logits, states, tokens, advantages, mask, learning_rate):
    rows = [[float(z) for z in row] for row in logits]
    total = math.fsum(float(m) for row in mask for m in row)
    new = [list(row) for row in rows]
    for n, advantage in enumerate(advantages):
        for state, token, m in zip(states[n], tokens[n], mask[n], strict=True):
            if not m:
                continue
            largest = max(rows[state])
            weights = [math.exp(z - largest) for z in rows[state]]
            for v, weight in enumerate(weights):
                prob = weight / math.fsum(weights)
                new[state][v] += learning_rate * float(advantage) / total * ((v == token) - prob)
    return new


def boolean_index(logits, states, tokens, advantages, mask, learning_rate):
    logits, is_token = np.array(logits, dtype=float), np.asarray(mask) > 0
    where, what = np.asarray(states)[is_token], np.asarray(tokens)[is_token]
    weights = np.broadcast_to(np.asarray(advantages, dtype=float)[:, None], is_token.shape)[is_token]
    gradient = np.zeros_like(logits)
    np.add.at(gradient, (where, what), weights)
    visits = np.bincount(where, weights, len(logits))
    gradient -= visits[:, None] * scipy.special.softmax(logits, axis=1)
    return logits + learning_rate * gradient / len(where)


def with_einsum(logits, states, tokens, advantages, mask, learning_rate):
    logits, mask = np.asarray(logits, dtype=float), np.asarray(mask, dtype=float)
    state_hot = np.eye(logits.shape[0])[np.asarray(states)]
    token_hot = np.eye(logits.shape[1])[np.asarray(tokens)]
    probs = np.exp(scipy.special.log_softmax(logits, axis=1))
    weights = mask * np.reshape(advantages, (-1, 1)) / mask.sum()
    chosen = np.einsum("nt,nts,ntv->sv", weights, state_hot, token_hot)
    pushed_down = np.einsum("nt,nts,sv->sv", weights, state_hot, probs)
    return logits + learning_rate * (chosen - pushed_down)


def flat_matrix_product(logits, states, tokens, advantages, mask, learning_rate):
    logits = np.array(logits, dtype=np.float64)
    states, tokens, mask = (np.ravel(x) for x in (states, tokens, np.asarray(mask, dtype=float)))
    weights = mask * np.repeat(np.asarray(advantages, dtype=float), len(mask) // len(advantages))
    shifted = np.exp(logits - np.max(logits, axis=1, keepdims=True))
    probs = shifted / np.sum(shifted, axis=1, keepdims=True)
    visit = np.arange(len(logits))[:, None] == states
    one_hot = (tokens[:, None] == np.arange(logits.shape[1])) * 1.0
    return logits + learning_rate / mask.sum() * (visit * weights) @ (one_hot - probs[states])


def what_was_chosen_then_what_was_likely(logits, states, tokens, advantages, mask, learning_rate):
    table, counts = np.array(logits, dtype=float), np.asarray(mask, dtype=float)
    weights = counts * np.asarray(advantages, dtype=float)[:, None] / counts.sum()
    probs = scipy.special.softmax(table, axis=-1)
    gradient = np.zeros_like(table)
    for state, token, weight in zip(np.ravel(states), np.ravel(tokens), weights.ravel(), strict=True):
        gradient[state, token] += weight
    for state, weight in zip(np.ravel(states), weights.ravel(), strict=True):
        gradient[state] -= weight * probs[state]
    return table + learning_rate * gradient


def state_by_state(logits, states, tokens, advantages, mask, learning_rate):
    states, tokens, mask = np.asarray(states), np.asarray(tokens), np.asarray(mask, dtype=float)
    weights = mask * np.asarray(advantages, dtype=float)[:, np.newaxis]
    rows = []
    for s, row in enumerate(np.asarray(logits, dtype=float)):
        probs = scipy.special.softmax(row)
        here = states == s
        taken = [np.sum(weights, where=here & (tokens == v)) for v in range(len(row))]
        rows.append(
            row + learning_rate * (taken - np.sum(weights, where=here) * probs) / np.count_nonzero(mask)
        )
    return rows


def completion_by_completion(logits, states, tokens, advantages, mask, learning_rate):
    logits = np.asarray(logits, dtype=float)
    probs = np.apply_along_axis(scipy.special.softmax, 1, logits)
    step, count = np.zeros(logits.shape), 0.0
    for s_row, t_row, advantage, m_row in zip(states, tokens, advantages, mask, strict=True):
        for s, t in ((s, t) for s, t, m in zip(s_row, t_row, m_row, strict=True) if m):
            count += 1
            step[s] -= advantage * probs[s]
            step[s, t] += advantage
    return logits + step * (learning_rate / count)
