"""A network with two skills: its exact shares of right answers, and the comparison at an equal gain."""

from dataclasses import replace

import numpy as np

from grpo_ref.lab.framework.skills import (
    at_equal_gain,
    measures_of,
    one_skill_imitated,
    one_skill_trained,
    right,
    skilled,
)
from grpo_ref.learning.rollout import draw
from grpo_ref.recipes import GRPO


def sampled(task, policy):
    actor = policy.at(policy.start(task, 1), 1.0)
    return draw(task, actor, [np.random.default_rng(1)], prompts=6000, group_size=1)


def test_the_share_of_right_answers_of_a_skill_is_that_of_samples():
    known = skilled(3)
    exact = right(known, known.policy.weights[None])[:, 0]
    shares = [
        sampled(replace(known.task, prompt_probs=kind / kind.sum()), known.policy).rewards.mean()
        for kind in (known.rewarded, ~known.rewarded)
    ]
    np.testing.assert_allclose(exact, shares, atol=0.02)


def test_at_an_equal_gain_the_other_skill_is_read_where_a_third_is_gained_or_at_the_end():
    rewarded = np.array([[0.1, 0.4, 0.7], [0.1, 0.2, 0.3]])
    other = np.array([[0.9, 0.8, 0.7], [0.9, 0.8, 0.7]])
    np.testing.assert_allclose(at_equal_gain(np.stack([rewarded, other])), [0.8, 0.7])


def test_the_rewarded_skill_is_learned_with_all_weights_and_with_a_low_rank():
    for rank in (0, 8):
        found = one_skill_trained(recipe=GRPO, learning_rate=0.003, rank=rank, seeds=1, seed=3)
        assert found["rewarded"][0, -1] > found["rewarded"][0, 0] + 0.1


def test_right_answers_are_imitated():
    found = one_skill_imitated(learning_rate=0.003, seeds=1, seed=3)
    assert found["rewarded"].shape == (1, 12)
    assert found["rewarded"][0, -1] > 0.9


def test_what_is_lost_is_the_start_minus_the_last_fifth():
    # Of 10 updates every second is kept: 5 values, so the last fifth is the last value.
    shares = np.stack([np.linspace(0.0, 1.0, 11), np.linspace(0.8, 0.3, 11)])[:, None]
    measures = measures_of(shares, 2)
    assert measures["rewarded"].shape == (1, 5)
    np.testing.assert_allclose(measures["lost"], 0.5)
