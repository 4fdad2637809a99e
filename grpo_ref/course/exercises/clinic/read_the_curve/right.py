"""Right answers to clinic/read_the_curve in other styles."""

import math
import statistics

import numpy as np


def with_fsum(reward, truth, entropy):
    def start_and_end(curve):
        numbers = [float(x) for x in curve]
        return math.fsum(numbers[:10]) / 10, math.fsum(numbers[len(numbers) - 10 :]) / 10

    before, after = start_and_end(reward)
    if before - after > 0.1:
        return "wrong sign"
    if after - before > 0.1:
        before, after = start_and_end(truth)
        return "reward hacking" if before - after > 0.1 else "learning"
    before, after = start_and_end(entropy)
    return "collapse" if after < 0.1 * before else "no signal"


def table_of_moves(reward, truth, entropy):
    moves = []
    for curve in (reward, truth):
        rise = statistics.fmean(curve[-10:]) - statistics.fmean(curve[:10])
        moves.append(0 if abs(rise) <= 0.1 else math.copysign(1, rise))
    names = {(1, 1): "learning", (1, 0): "learning", (1, -1): "reward hacking"}
    names |= {(-1, truth_move): "wrong sign" for truth_move in (-1, 0, 1)}
    decided = statistics.fmean(entropy[-10:]) < statistics.fmean(entropy[:10]) / 10
    return names.get(tuple(moves), "collapse" if decided else "no signal")


def all_at_once(reward, truth, entropy):
    curves = np.array([reward, truth, entropy], dtype=float)
    start, end = curves[:, :10].mean(1), curves[:, -10:].mean(1)
    rise = end - start
    conditions = [rise[0] < -0.1, (rise[0] > 0.1) & (rise[1] < -0.1), rise[0] > 0.1, end[2] < 0.1 * start[2]]
    return np.select(conditions, ["wrong sign", "reward hacking", "learning", "collapse"], "no signal").item()


def numpy_text(reward, truth, entropy):
    weights = np.zeros(len(reward))
    weights[:10], weights[-10:] = -0.1, 0.1
    gained, meant = np.dot(weights, reward), np.dot(weights, truth)
    if abs(gained) > 0.1:
        return np.str_("wrong sign" if gained < 0 else "learning" if meant >= -0.1 else "reward hacking")
    return np.str_("collapse" if np.sum(entropy[-10:]) < np.sum(entropy[:10]) / 10 else "no signal")


def cumulative(reward, truth, entropy):
    def ends(curve):
        sums = np.concatenate([[0.0], np.cumsum(np.asarray(curve, dtype=float))])
        return sums[10] / 10, (sums[-1] - sums[-11]) / 10

    (r0, r1), (t0, t1), (e0, e1) = map(ends, (reward, truth, entropy))
    match np.sign(r1 - r0) * (abs(r1 - r0) > 0.1):
        case -1:
            return "wrong sign"
        case 1:
            return "learning" if not t1 < t0 - 0.1 else "reward hacking"
        case _:
            return "no signal" if not e1 < e0 / 10 else "collapse"


def by_index(reward, truth, entropy):
    names = ["no signal", "collapse", "learning", "reward hacking", "wrong sign"]
    rise = {}
    for name, curve in {"reward": reward, "truth": truth}.items():
        rise[name] = np.average(curve[-10:]) - np.average(curve[:10])
    has_fallen, has_risen = rise["reward"] < -0.1, rise["reward"] > 0.1
    is_decided = np.average(entropy[-10:]) < 0.1 * np.average(entropy[:10])
    is_hacked = rise["truth"] < -0.1
    number = 4 if has_fallen else 2 + is_hacked if has_risen else int(is_decided)
    return names[number]
