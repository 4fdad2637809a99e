"""Advantages: hand-worked groups, in every library and precision."""

import numpy as np
import pytest

from grpo_ref import (
    batch_scaled,
    best_of_group,
    group_centered,
    group_normalized,
    leave_one_out,
    normalized_then_summed,
    ranked,
    raw_rewards,
)

ROOT2, ROOT3 = np.sqrt(2.0), np.sqrt(3.0)

NORMALIZED = {
    # rewards, settings, advantages
    "one of two is right: std (ddof 1) is 1/√2": ([[1, 0]], {"eps": 0.0}, [[1 / ROOT2, -1 / ROOT2]]),
    "one of two is right: std (ddof 0) is 1/2, so ±1": ([[1, 0]], {"ddof": 0, "eps": 0.0}, [[1, -1]]),
    "one of four: mean 1/4, std (ddof 0) √3/4": (
        [[1, 0, 0, 0]],
        {"ddof": 0, "eps": 0.0},
        [[ROOT3, -1 / ROOT3, -1 / ROOT3, -1 / ROOT3]],
    ),
    "eps is added to the std, not to the variance": ([[1, 0]], {"ddof": 0, "eps": 0.5}, [[0.5, -0.5]]),
    "groups do not mix": ([[1, 0], [5, 3]], {"ddof": 0, "eps": 0.0}, [[1, -1], [1, -1]]),
    "the default eps is TRL's": ([[1, 0]], {"ddof": 0}, [[0.5 / 0.5001, -0.5 / 0.5001]]),
    "everyone agrees: no contrast, no 0/0": ([[0.1, 0.1, 0.1]], {"eps": 0.0}, [[0, 0, 0]]),
    "one of three: std (ddof 1) is √((4/9 + 1/9 + 1/9) / 2) = 1/√3": (
        [[1, 0, 0]],
        {"eps": 0.0},
        [[2 / ROOT3, -1 / ROOT3, -1 / ROOT3]],
    ),
    "a group of one has no siblings": ([[3.0], [5.0]], {}, [[0], [0]]),
    "a group of one, as verl has it: mean 0, std 1": (
        [[3.0]],
        {"keep_singletons": True, "eps": 0.5},
        [[2.0]],
    ),
    "that is asked of groups of one only": (
        [[1, 0]],
        {"keep_singletons": True, "ddof": 0, "eps": 0.0},
        [[1, -1]],
    ),
}


@pytest.mark.parametrize(("rewards", "settings", "expected"), NORMALIZED.values(), ids=NORMALIZED)
def test_group_normalized(rewards, settings, expected, asarray):
    asarray.check(group_normalized(asarray(rewards), **settings), expected)


OTHERS = {
    "centred: mean 1/4": (group_centered, [[1, 0, 0, 0]], {}, [[0.75, -0.25, -0.25, -0.25]]),
    "centred: everyone agrees": (group_centered, [[0.1, 0.1, 0.1]], {}, [[0, 0, 0]]),
    "centred: alone": (group_centered, [[2.0]], {}, [[0]]),
    "raw": (raw_rewards, [[1, 0.5]], {}, [[1, 0.5]]),
    "leave one out: the others of the winner have mean 0": (
        leave_one_out,
        [[1, 0, 0]],
        {},
        [[1, -0.5, -0.5]],
    ),
    "leave one out: everyone agrees": (leave_one_out, [[0.1, 0.1, 0.1]], {}, [[0, 0, 0]]),
    "leave one out: alone": (leave_one_out, [[2.0]], {}, [[0]]),
    "leave one out: alone, as verl has it": (leave_one_out, [[2.0]], {"keep_singletons": True}, [[2.0]]),
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
    "batch: groups of one have no siblings": (batch_scaled, [[1.0], [3.0]], {}, [[0], [0]]),
    "batch: a single reward has no spread": (batch_scaled, [[3.0]], {"eps": 0.0}, [[0]]),
    "ranked: the order counts alone": (ranked, [[0.1, 30.0, 0.2]], {}, [[-2, 2, 0]]),
    "ranked: the two best share ranks 1 and 2 of four": (
        ranked,
        [[5, 1, 5, 0]],
        {},
        [[4 / 3, -2 / 3, 4 / 3, -2]],
    ),
    "ranked: everyone agrees": (ranked, [[0.1, 0.1]], {}, [[0, 0]]),
    "ranked: alone": (ranked, [[3.0]], {}, [[0]]),
    "best of group: the lead 3 - 1 over the std (ddof 0) of 3 1": (
        best_of_group,
        [[3, 1]],
        {"ddof": 0, "eps": 0.0},
        [[2, 0]],
    ),
    "best of group: the lead 6 - 2 over the std 2 and eps 0.5": (
        best_of_group,
        [[2, 6]],
        {"ddof": 0, "eps": 0.5},
        [[0, 1.6]],
    ),
    "best of group: by default ddof is 1 and eps 1e-6, and 2 1 0 have std 1": (
        best_of_group,
        [[0, 2, 1]],
        {},
        [[0, 1 / 1.000001, 0]],
    ),
    "best of group: a tie leads by nothing": (best_of_group, [[1, 1, 0]], {}, [[0, 0, 0]]),
    "best of group: everyone agrees, and no 0/0": (best_of_group, [[1, 1]], {"eps": 0.0}, [[0, 0]]),
}


@pytest.mark.parametrize(("kernel", "rewards", "settings", "expected"), OTHERS.values(), ids=OTHERS)
def test_other_advantages(kernel, rewards, settings, expected, asarray):
    asarray.check(kernel(asarray(rewards), **settings), expected)


@pytest.mark.parametrize("kernel", [group_normalized, group_centered, batch_scaled, leave_one_out])
def test_equal_rewards_give_exact_zeros(kernel):
    """The mean of three 0.1 is 0.10000000000000002, which must not be blown up by a small eps."""
    assert (kernel(np.full((2, 3), 0.1)) == 0.0).all()


@pytest.mark.parametrize("kernel", [group_normalized, batch_scaled, best_of_group])
def test_settings_out_of_range_are_named(kernel):
    with pytest.raises(ValueError, match=r"ddof: expected 0 .* or 1 .*, got 2"):
        kernel(np.array([[1.0, 0.0]]), ddof=2)
    with pytest.raises(ValueError, match="eps: expected a number >= 0, got -1"):
        kernel(np.array([[1.0, 0.0]]), eps=-1)


def test_a_lead_needs_two():
    with pytest.raises(ValueError, match=r"groups of at least 2, got shape \(3, 1\)"):
        best_of_group(np.zeros((3, 1)))


def test_a_list_is_told_to_become_an_array():
    with pytest.raises(TypeError, match="expected arrays, got a list or tuple; wrap it first"):
        group_normalized([[1.0, 0.0]])


# components of a group of two, weights, settings -> advantages
COMPONENTS = {
    "criteria of different scale count by their weights: 1 - 0.5": (
        [[[1, 0], [0, 100]]],
        [1, 0.5],
        {"ddof": 0, "eps": 0.0, "whiten": False},
        [[0.5, -0.5]],
    ),
    "a criterion on which the group agrees adds nothing": (
        [[[1, 0.1], [0, 0.1]]],
        [1, 5],
        {"ddof": 0, "eps": 0.0, "whiten": False},
        [[1, -1]],
    ),
    "groups are normalised apart": (
        [[[1], [0]], [[30], [10]]],
        [2],
        {"ddof": 0, "eps": 0.0, "whiten": False},
        [[2, -2], [2, -2]],
    ),
    "then the batch: ± 3/2 and 0 0 have std √(9/8)": (
        [[[1, 1], [0, 0]], [[1, 1], [1, 1]]],
        [1, 0.5],
        {"ddof": 0, "eps": 0.0},
        [[np.sqrt(2), -np.sqrt(2)], [0, 0]],
    ),
    "no contrast anywhere, and no 0/0": ([[[1], [1]]], [1], {"eps": 0.0}, [[0, 0]]),
}


@pytest.mark.parametrize(
    ("components", "weights", "settings", "expected"), COMPONENTS.values(), ids=COMPONENTS
)
def test_criteria_are_normalised_before_they_are_summed(components, weights, settings, expected, asarray):
    got = normalized_then_summed(asarray(components), asarray(weights), **settings)
    asarray.check(got, expected)
