"""Reward shaping, worked by hand."""

import numpy as np
import pytest

from grpo_ref import DAPO, group_normalized
from grpo_ref.rewards import soft_overlong, soft_overlong_punishment, task_reward

# length, budget, settings -> punishment; with the default buffer of 0.2, a budget of 10 is free up to 8
PUNISHMENTS = {
    "short": (3, 10, {}, 0),
    "where the ramp begins": (8, 10, {}, 0),
    "half way": (9, 10, {}, -0.5),
    "at the budget": (10, 10, {}, -1),
    "beyond": (12, 10, {}, -1),
    "a buffer of half the budget: two of its five tokens": (7, 10, {"buffer": 0.5}, -0.4),
    "a buffer of the whole budget: every token costs": (1, 10, {"buffer": 1.0}, -0.1),
    "a budget of one token": (1, 1, {}, -1),
    "DAPO's own: 20480 tokens, half of the last 4096": (18432, 20480, {}, -0.5),
}


@pytest.mark.parametrize(
    ("length", "budget", "settings", "punishment"), PUNISHMENTS.values(), ids=PUNISHMENTS
)
def test_soft_overlong(length, budget, settings, punishment, asarray):
    lengths = asarray([[length]])
    asarray.check(soft_overlong_punishment(lengths, budget, **settings), [[punishment]])
    asarray.check(soft_overlong(asarray([[0.25]]), lengths, budget, **settings), [[0.25 + punishment]])


# right?, length of 10 -> by hand, with the paper's rewards of +1 and -1 and its weight of 1: the penalty is 0
# up to 8 tokens, -1/2 at 9 and -1 at 10
SHAPED = {
    "right and short": (True, 5, 1.0),
    "right, on the ramp": (True, 9, 0.5),
    "right, at the budget": (True, 10, 0.0),
    "wrong and short": (False, 5, -1.0),
    "wrong, at the budget": (False, 10, -2.0),
}


def test_half_the_weight_on_rewards_of_1_and_0_is_the_paper_on_rewards_of_1_and_minus_1(asarray):
    """2 (r + p/2) - 1 = (2 r - 1) + p, and normalized advantages do not change with unit and origin."""
    right, lengths, shaped = (np.array([column]) for column in zip(*SHAPED.values(), strict=True))
    signed = soft_overlong(asarray(2.0 * right - 1.0), asarray(1.0 * lengths), 10, weight=1.0)
    asarray.check(signed, shaped)
    half = soft_overlong(asarray(1.0 * right), asarray(1.0 * lengths), 10, weight=0.5)
    asarray.check(2.0 * half - 1.0, shaped)
    asarray.check(group_normalized(half, eps=0.0), asarray.to_numpy(group_normalized(signed, eps=0.0)))


def test_the_papers_weight_takes_the_whole_reward_of_1_at_the_budget(asarray):
    """With weight 1, right at the budget earns 1 - 1 = 0, as wrong and short does; with 0.5 it earns 0.5."""
    rewards, lengths = asarray([[1.0, 0.0]]), asarray([[10.0, 5.0]])
    asarray.check(soft_overlong(rewards, lengths, 10, weight=1.0), [[0.0, 0.0]])
    asarray.check(soft_overlong(rewards, lengths, 10, weight=DAPO.reward.settings["weight"]), [[0.5, 0.0]])


def test_soft_overlong_counts_in_whole_tokens(asarray):
    punishment = soft_overlong_punishment(asarray(np.array([7, 9])), 10)
    assert asarray.to_numpy(punishment).tolist() == [0.0, -0.5]


@pytest.mark.parametrize(("buffer", "max_length"), [(0.0, 10), (1.1, 10), (np.nan, 10), (0.2, 0)])
def test_soft_overlong_settings_are_named(buffer, max_length):
    with pytest.raises(ValueError, match="expected 0 < buffer <= 1 and max_length >= 1, got"):
        soft_overlong_punishment(np.array([1.0]), max_length, buffer=buffer)


def test_task_reward_is_left_alone():
    rewards = np.array([[1.0, 0.5]])
    assert task_reward(rewards) is rewards


def test_the_punishment_has_a_weight(asarray):
    """Half way it is a half, times 3; with no weight nothing is left of it."""
    rewards, lengths = asarray([[0.25]]), asarray([[9]])
    asarray.check(soft_overlong(rewards, lengths, 10, weight=3.0), [[-1.25]])
    asarray.check(soft_overlong(rewards, lengths, 10, weight=0.0), [[0.25]])
    with pytest.raises(ValueError, match="weight: expected a number >= 0, got -1"):
        soft_overlong(rewards, lengths, 10, weight=-1.0)
