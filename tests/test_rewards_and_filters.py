"""Reward shaping and group filters, worked by hand."""

import numpy as np
import pytest

from grpo_ref import all_groups, mixed_groups, soft_overlong, soft_overlong_punishment, task_reward

# budget 10, buffer 0.2: the ramp runs from 8 to 10 tokens
LENGTHS = {
    "short": (3, 0),
    "where the ramp begins": (8, 0),
    "half way": (9, -0.5),
    "at the budget": (10, -1),
    "beyond": (12, -1),
}


@pytest.mark.parametrize(("length", "punishment"), LENGTHS.values(), ids=LENGTHS)
def test_soft_overlong(length, punishment, asarray):
    asarray.check(soft_overlong_punishment(asarray([[length]]), 10, buffer=0.2), [[punishment]])
    asarray.check(soft_overlong(asarray([[0.25]]), asarray([[length]]), 10), [[0.25 + punishment]])


def test_soft_overlong_counts_in_whole_tokens():
    assert soft_overlong_punishment(np.array([9]), 10).tolist() == [-0.5]


@pytest.mark.parametrize(("buffer", "max_length"), [(0.0, 10), (1.1, 10), (0.2, 0)])
def test_soft_overlong_settings_are_named(buffer, max_length):
    with pytest.raises(ValueError, match="expected 0 < buffer <= 1 and max_length >= 1, got"):
        soft_overlong_punishment(np.array([1.0]), max_length, buffer=buffer)


def test_task_reward_is_left_alone():
    rewards = np.array([[1.0, 0.5]])
    assert task_reward(rewards) is rewards


def test_filters(asarray):
    rewards = asarray([[0, 0, 0], [1, 0, 1], [0.1, 0.1, 0.1]])
    asarray.check(mixed_groups(rewards), [False, True, False])
    asarray.check(all_groups(rewards), [True, True, True])


@pytest.mark.parametrize("kernel", [mixed_groups, all_groups])
def test_runs_are_independent(kernel):
    rewards = np.random.default_rng(0).integers(0, 2, (5, 4, 3))
    np.testing.assert_array_equal(kernel(rewards), np.stack([kernel(run) for run in rewards]))
