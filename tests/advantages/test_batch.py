"""Advantages scaled by the whole batch, worked by hand."""

from math import sqrt

import pytest

from grpo_ref.advantages import batch_normalized, batch_scaled, gpg

ROOT3 = sqrt(3.0)
ADVANTAGES = {
    "batch: rewards 0 0 2 2 have std (ddof 0) 1; each group agrees": (
        batch_scaled,
        [[0, 0], [2, 2]],
        {"ddof": 0, "eps": 0.0},
        [[0, 0], [0, 0]],
    ),
    "batch: 0 2 0 2 have mean 1, std 1; the mean taken off is the group's": (
        batch_scaled,
        [[0, 2], [0, 2]],
        {"ddof": 0, "eps": 0.0},
        [[-1, 1], [-1, 1]],
    ),
    "batch: an easy and a mixed group; 1 1 1 0 have variance 3/16": (
        batch_scaled,
        [[1, 1], [1, 0]],
        {"ddof": 0, "eps": 0.0},
        [[0, 0], [2 / ROOT3, -2 / ROOT3]],
    ),
    "batch: ddof 1 divides by P G - 1; variance 1/4": (
        batch_scaled,
        [[1, 1], [1, 0]],
        {"ddof": 1, "eps": 0.0},
        [[0, 0], [1, -1]],
    ),
    "batch: by default ddof is 1 and eps 1e-4": (
        batch_scaled,
        [[1, 1], [1, 0]],
        {},
        [[0, 0], [0.5 / 0.5001, -0.5 / 0.5001]],
    ),
    "batch: groups of one": (batch_scaled, [[1.0], [3.0]], {}, [[0], [0]]),
    "batch: a single reward has no spread": (batch_scaled, [[3.0]], {"eps": 0.0}, [[0]]),
    "over the batch: 0 0 2 2 have mean 1 and std 1": (
        batch_normalized,
        [[0, 0], [2, 2]],
        {"eps": 0.0},
        [[-1, -1], [1, 1]],
    ),
    "over the batch: equal rewards": (batch_normalized, [[3, 3]], {"eps": 0.0}, [[0, 0]]),
    "gpg: one of two groups has contrast, so twice": (gpg, [[1, 1], [1, 0]], {}, [[0, 0], [1, -1]]),
    "gpg: no group has contrast": (gpg, [[1, 1], [0, 0]], {}, [[0, 0], [0, 0]]),
    "gpg: every group has contrast": (gpg, [[1, -1], [3, 1]], {}, [[1, -1], [1, -1]]),
    "verl's gpg: one of four is rewarded, so twice two": (
        gpg,
        [[1, 0], [0, 0]],
        {"count_rewarded": True},
        [[2, -2], [0, 0]],
    ),
    "verl's gpg: none is rewarded": (gpg, [[0, 0]], {"count_rewarded": True}, [[0, 0]]),
    "verl's gpg: -1 counts as a reward": (gpg, [[1, -1]], {"count_rewarded": True}, [[1, -1]]),
    "verl's gpg: a group of one has mean 0": (
        gpg,
        [[2], [0]],
        {"count_rewarded": True, "keep_singletons": True},
        [[4], [0]],
    ),
}


@pytest.mark.parametrize(("kernel", "rewards", "settings", "expected"), ADVANTAGES.values(), ids=ADVANTAGES)
def test_advantages_of_a_batch(kernel, rewards, settings, expected, asarray):
    asarray.check(kernel(asarray(rewards), **settings), expected)
