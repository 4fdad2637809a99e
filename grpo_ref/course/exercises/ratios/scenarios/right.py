"""Right answers to `ratios/scenarios` in other styles."""

import numpy as np


def with_a_loop(ratio, advantages, clip=0.2):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    scenario, learns = np.zeros(r.shape, dtype=int), np.zeros(r.shape, dtype=bool)
    for i in np.ndindex(r.shape):
        if a[i] > 0:
            learns[i] = r[i] <= 1 + clip
            scenario[i] = 1 if r[i] > 1 else 3 if r[i] < 1 else 0
        elif a[i] < 0:
            learns[i] = r[i] >= 1 - clip
            scenario[i] = 2 if r[i] > 1 else 4 if r[i] < 1 else 0
    return scenario, learns


def with_select(ratio, advantages, clip=0.2):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    good, bad = a > 0, a < 0
    scenario = np.select([(r > 1) & good, (r > 1) & bad, (r < 1) & good, (r < 1) & bad], [1, 2, 3, 4], 0)
    learns = np.select([good, bad], [r <= 1 + clip, r >= 1 - clip], False)
    return scenario, learns


def sums_of_conditions(ratio, advantages, clip=0.2):
    r, a = np.asarray(ratio), np.asarray(advantages)
    scenario = 1 * ((r > 1) & (a > 0)) + 2 * ((r > 1) & (a < 0))
    scenario = scenario + 3 * ((r < 1) & (a > 0)) + 4 * ((r < 1) & (a < 0))
    stopped = ((a > 0) & (r > 1 + clip)) | ((a < 0) & (r < 1 - clip)) | (a == 0)
    return scenario, ~stopped


def nested_lists(ratio, advantages, clip=0.2):
    if np.ndim(ratio) == 0:
        if ratio == 1 or advantages == 0:
            scenario = 0
        else:
            scenario = {(True, True): 1, (True, False): 2, (False, True): 3, (False, False): 4}[
                bool(ratio > 1), bool(advantages > 0)
            ]
        learns = ratio <= 1 + clip if advantages > 0 else advantages < 0 and ratio >= 1 - clip
        return scenario, bool(learns)
    pairs = [nested_lists(r, a, clip) for r, a in zip(ratio, advantages, strict=True)]
    return [scenario for scenario, _ in pairs], [learns for _, learns in pairs]


def distance_from_one(ratio, advantages, clip=0.2):
    moved, sign = np.asarray(ratio, dtype=float) - 1, np.sign(np.asarray(advantages, dtype=float))
    table = np.array([[4, 0, 3], [0, 0, 0], [2, 0, 1]])
    scenario = table[np.sign(moved).astype(int) + 1, sign.astype(int) + 1]
    return scenario, (sign != 0) & (moved * sign <= clip)


def comparing_the_branches(ratio, advantages, clip=0.2):
    r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    free, held = r * a, np.clip(r, 1 - clip, 1 + clip) * a
    side = np.where(r > 1, 1, 3) + (a < 0)
    return np.where((r == 1) | (a == 0), 0, side), (free <= held) & (a != 0)


def indexing_with_conditions(ratio, advantages, clip=0.2):
    r = np.atleast_1d(np.asarray(ratio, dtype=float))
    a = np.atleast_1d(np.asarray(advantages, dtype=float))
    scenario = np.zeros_like(r)
    learns = np.full(r.shape, True)
    for number, high, good in ((1, True, True), (2, True, False), (3, False, True), (4, False, False)):
        scenario[((r > 1) if high else (r < 1)) & ((a > 0) if good else (a < 0))] = number
    learns[(r > 1 + clip) & (a > 0)] = False
    learns[(r < 1 - clip) & (a < 0)] = False
    learns[a == 0] = False
    return (scenario, learns) if np.ndim(ratio) else (scenario[0], learns[0])
