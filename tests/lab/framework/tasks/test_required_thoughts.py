"""Prompts that say how long to think: the judge, the reference, and what is computed of a network."""

import numpy as np
import pytest

from grpo_ref.lab.framework.network import imitator
from grpo_ref.lab.framework.tasks.required_thoughts import THINK, Thinkers, expected, pairs, required_thoughts
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.rollout import draw

KINDS, BUDGET = 3, 4
RIGHT, NEEDED = np.array([1, 2, 1, 2, 1, 2, 1, 2, 1]), np.array([0, 1, 2] * KINDS)
PROBS = np.full(KINDS**2, 1.0 / KINDS**2)


@pytest.fixture(scope="module")
def task():
    return required_thoughts(RIGHT, NEEDED, np.full(KINDS**2, 0.5), PROBS, known=0.75, budget=BUDGET)


# prompt 1 needs one thought and then a 2; tokens, and how many of them count -> reward
JUDGED = {
    "right, after one thought": ([THINK, 2, 0, 0], 2, 1.0),
    "right, after more thoughts than needed": ([THINK, THINK, THINK, 2], 4, 1.0),
    "right, but too early": ([2, 0, 0, 0], 1, 0.0),
    "wrong, late enough": ([THINK, 1, 0, 0], 2, 0.0),
    "no answer in the budget": ([THINK, THINK, THINK, THINK], 4, 0.0),
}


@pytest.mark.parametrize("case", JUDGED)
def test_an_answer_counts_if_it_is_right_and_late_enough(task, case):
    tokens, length, reward = JUDGED[case]
    mask = np.arange(BUDGET) < length
    assert task.verify(np.array([1]), np.array(tokens)[None, None], mask[None, None]).item() == reward


def test_the_reference_thinks_on_and_answers_as_asked(task):
    probs = policy_of(task.ref_logits[None]).probs[0]
    np.testing.assert_allclose(probs[:, THINK], 0.5)
    np.testing.assert_allclose(probs[np.arange(KINDS**2), RIGHT], 0.75 * 0.5)


def test_prompts_are_all_pairs_of_signs(task):
    assert pairs(KINDS)[5].tolist() == [1, 2]
    assert task.prompts[5] == "12:"


def test_what_is_expected_of_a_network_is_what_its_samples_do(task):
    readable, policy = imitator(task, pairs(KINDS), seed=0, steps=30)
    actor = policy.at(policy.start(readable, 1), 1.0)
    batch = draw(readable, actor, [np.random.default_rng(1)], prompts=6000, group_size=1)
    right, length = expected(Thinkers((readable, policy), RIGHT, NEEDED), policy.weights[None])[0].mean(-1)
    np.testing.assert_allclose(right, batch.rewards.mean(), atol=0.02)
    np.testing.assert_allclose(length, batch.mask.sum(-1).mean() / BUDGET, rtol=0.02)
