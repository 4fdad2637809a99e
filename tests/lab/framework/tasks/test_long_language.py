"""A language of long completions: exact values against hand-derived ones, differences and samples."""

import math
from dataclasses import replace

import numpy as np
import pytest

from grpo_ref.corrections import prefix_ratio, truncated
from grpo_ref.lab.framework.tasks.long_language import (
    ascent,
    drawn_language,
    expected_reward,
    expected_step,
    gradient,
    required,
    sampled,
)
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.levels import sequence_sum_level
from grpo_ref.recipes import REINFORCE, slot

RUNS, LENGTH, MANY = 2, 6, 20_000
LANGUAGE = drawn_language(RUNS, 7, (0.5, 0.5))
NEEDED = required(LANGUAGE, LENGTH)
SAMPLER = LANGUAGE.sampler(LANGUAGE.logits, LENGTH)


def learner(logits=LANGUAGE.logits, length=LENGTH):
    return np.repeat(policy_of(logits).probs[:, None], length, axis=1)


def test_one_token_moves_by_its_probability_times_what_it_gains():
    """With one token, dJ/dlogit = p (good - J) in the first state, and nothing elsewhere."""
    probs = policy_of(LANGUAGE.logits).probs[:, 0]
    good, needed = LANGUAGE.good[:, 0], np.ones(RUNS, dtype=int)
    reward = (probs * good).sum(-1, keepdims=True)
    np.testing.assert_allclose(expected_reward(LANGUAGE, learner(length=1), needed), reward[:, 0])
    steps = gradient(LANGUAGE, needed, 1)
    np.testing.assert_allclose(steps[:, 0], probs * (good - reward), atol=1e-15)
    assert not steps[:, 1:].any()


def test_the_gradient_is_the_slope_of_the_expected_reward():
    small = 1e-6
    slopes = np.zeros(LANGUAGE.logits.shape)
    for place in np.ndindex(LANGUAGE.logits.shape[1:]):
        for sign in (1.0, -1.0):
            moved = LANGUAGE.logits.copy()
            moved[:, *place] += sign * small
            slopes[:, *place] += sign * expected_reward(LANGUAGE, learner(moved), NEEDED) / (2 * small)
    np.testing.assert_allclose(gradient(LANGUAGE, NEEDED, LENGTH), slopes, atol=1e-8)


def test_the_required_number_makes_the_reward_as_near_as_possible_to_its_aim():
    off = [abs(expected_reward(LANGUAGE, learner(), NEEDED + more) - LANGUAGE.right) for more in (-1, 0, 1)]
    assert (off[1] <= np.minimum(off[0], off[2])).all()


PARTS = {
    "no weight": ((), "sampler", "sampler", "sampler"),
    "token": ((slot(truncated, max_ratio=math.inf),), "sampler", "learner", "sampler"),
    "prefix": ((slot(prefix_ratio),), "learner", "learner", "sampler"),
    "sequence": (
        (slot(truncated, level=sequence_sum_level, max_ratio=math.inf),),
        "learner",
        "learner",
        "learner",
    ),
}


@pytest.mark.parametrize("weights", PARTS)
def test_samples_agree_with_what_a_weight_is_said_to_correct(weights):
    corrections, *whose = PARTS[weights]
    policies = {"sampler": SAMPLER, "learner": learner()}
    baseline = expected_reward(LANGUAGE, SAMPLER, NEEDED)
    before, token, after = (policies[name] for name in whose)
    exact = expected_step(LANGUAGE, NEEDED, before=before, token=token, after=after, baseline=baseline)
    batch = sampled(LANGUAGE, SAMPLER, NEEDED, np.random.default_rng(1).random((RUNS, MANY, LENGTH)))
    np.testing.assert_allclose(batch.rewards.mean(1), baseline, atol=0.02)
    recipe = replace(REINFORCE, corrections=corrections)
    each = ascent(recipe, policy_of(LANGUAGE.logits), batch, baseline)
    error = each.std(1) / math.sqrt(MANY)
    assert (abs(each.mean(1) - exact) < 5.0 * error + 1e-12).all()


def test_the_noise_is_the_same_at_all_positions_or_differs_from_one_to_the_next():
    tasks = [drawn_language(1, seed) for seed in range(8)]
    kinds = {bool((task.noise == task.noise[:, :1]).all()) for task in tasks}
    assert kinds == {True, False}
