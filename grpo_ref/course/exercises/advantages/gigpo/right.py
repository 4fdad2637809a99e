"""Right answers to advantages/gigpo in other styles."""

import math
from collections import defaultdict

import numpy as np


def with_dictionaries(turn_rewards, states, mask, gamma=0.95):
    rewards, states = np.asarray(turn_rewards, dtype=float), np.asarray(states)
    counts = (np.asarray(mask) > 0).sum(1)
    returns, of_state = {}, defaultdict(list)
    for i in range(len(rewards)):
        following = 0.0
        for k in range(counts[i] - 1, -1, -1):
            following = rewards[i, k] + gamma * following
            returns[i, k] = following
            of_state[int(states[i, k])].append(following)
    out = np.zeros(rewards.shape)
    for (i, k), value in returns.items():
        same = of_state[int(states[i, k])]
        out[i, k] = value - math.fsum(same) / len(same)
    return out


def with_a_matrix_of_discounts(turn_rewards, states, mask, gamma=0.95):
    taken, states = np.asarray(mask).astype(bool), np.asarray(states)
    rewards = np.where(taken, np.array(turn_rewards, dtype=float), 0.0)
    ahead = np.subtract.outer(np.arange(rewards.shape[1]), np.arange(rewards.shape[1]))
    discounts = np.where(ahead >= 0, float(gamma) ** np.maximum(ahead, 0), 0.0)
    returns = rewards @ discounts
    flat, names, present = returns.ravel(), states.ravel(), taken.ravel()
    same = (names[:, None] == names[None, :]) & present[None, :]
    mean = (same @ np.where(present, flat, 0.0)) / np.maximum(same.sum(1), 1)
    return np.where(present, flat - mean, 0.0).reshape(returns.shape)


def with_bincount(turn_rewards, states, mask, gamma=0.95):
    taken = np.asarray(mask) != 0
    rewards = np.where(taken, np.asarray(turn_rewards, dtype=float), 0.0)
    returns = rewards.copy()
    for k in range(rewards.shape[1] - 2, -1, -1):
        returns[:, k] += gamma * returns[:, k + 1]
    out = np.zeros_like(rewards)
    if taken.any():
        _, index = np.unique(np.asarray(states)[taken], return_inverse=True)
        sums, counts = np.bincount(index, returns[taken]), np.bincount(index)
        out[taken] = returns[taken] - (sums / counts)[index]
    return out


def turn_by_turn(turn_rewards, states, mask, gamma=0.95):
    rewards, states, mask = np.asarray(turn_rewards, float), np.asarray(states), np.asarray(mask)
    episodes, turns = rewards.shape
    returns = np.zeros((episodes, turns))
    for i in range(episodes):
        for k in range(turns):
            if mask[i, k] > 0:
                returns[i, k] = sum(
                    gamma ** (later - k) * rewards[i, later]
                    for later in range(k, turns)
                    if mask[i, later] > 0
                )
    out = np.zeros((episodes, turns))
    for i in range(episodes):
        for k in range(turns):
            if mask[i, k] > 0:
                total, count = 0.0, 0
                for j in range(episodes):
                    for m in range(turns):
                        if mask[j, m] > 0 and states[j, m] == states[i, k]:
                            total += returns[j, m]
                            count += 1
                out[i, k] = returns[i, k] - total / count
    return out


def with_masked_arrays(turn_rewards, states, mask, gamma=0.95):
    taken, states = np.asarray(mask) > 0.5, np.asarray(states)
    rewards = np.ma.masked_array(np.asarray(turn_rewards, dtype=float), ~taken).filled(0.0)
    returns = np.zeros(rewards.shape)
    ahead = np.zeros(rewards.shape[0])
    for k in range(rewards.shape[1])[::-1]:
        ahead = ahead * gamma + rewards[:, k]
        returns[:, k] = ahead
    out = np.zeros(rewards.shape)
    for state in set(states[taken].tolist()):
        same = taken & (states == state)
        out += np.where(same, returns - np.ma.masked_array(returns, ~same).mean(), 0.0)
    return out


def sorted_by_state(turn_rewards, states, mask, gamma=0.95):
    taken = np.asarray(mask) == 1
    rewards = np.where(taken, np.asarray(turn_rewards, dtype=float), 0.0)
    returns = np.zeros(rewards.shape)
    for i, row in enumerate(rewards):
        following = 0.0
        for k in reversed(range(len(row))):
            following = row[k] + gamma * following
            returns[i, k] = following
    places = np.argwhere(taken)
    names = np.asarray(states)[taken]
    order = np.argsort(names, kind="stable")
    borders = np.flatnonzero(np.diff(names[order])) + 1
    out = np.zeros(rewards.shape)
    for group in np.split(order, borders):
        if len(group):
            at = tuple(places[group].T)
            out[at] = returns[at] - np.mean(returns[at])
    return out


def one_hot_states(turn_rewards, states, mask, gamma=0.95):
    taken = np.asarray(mask, dtype=float)
    rewards = np.where(taken > 0, np.asarray(turn_rewards, dtype=float), 0.0)
    returns = np.flip(rewards, 1).copy()
    for k in range(1, rewards.shape[1]):
        returns[:, k] += gamma * returns[:, k - 1]
    returns = np.flip(returns, 1)
    names = np.unique(states)
    hot = (np.asarray(states)[..., None] == names) * taken[..., None]
    means = np.einsum("gks,gk->s", hot, returns) / np.maximum(hot.sum((0, 1)), 1.0)
    return (returns - hot @ means) * taken
