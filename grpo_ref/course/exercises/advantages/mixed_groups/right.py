"""Right answers to advantages/mixed_groups in other styles."""

import itertools

import numpy as np
import scipy.stats


def with_sets(rewards):
    return [len(set(row)) > 1 for row in np.asarray(rewards).tolist()]


def against_the_first(rewards):
    r = np.asarray(rewards)
    return (r != r[:, :1]).any(axis=1)


def with_ptp(rewards):
    return np.ptp(np.asarray(rewards, dtype=float), axis=-1) > 0


def neighbors(rewards):
    return np.any(np.diff(np.array(rewards), axis=1), axis=1)


def all_pairs(rewards):
    answers = []
    for row in rewards:
        answers.append(any(one != other for one, other in itertools.combinations(row, 2)))
    return np.array(answers)


def with_unique(rewards):
    return np.array([np.unique(row).size > 1 for row in rewards])


def sorted_ends(rewards):
    return tuple(np.bool_(ends[0] < ends[-1]) for ends in map(sorted, rewards))


def with_scipy(rewards):
    ranks = scipy.stats.rankdata(np.asarray(rewards, dtype=float), method="dense", axis=1)
    return ranks.max(axis=1) > 1
