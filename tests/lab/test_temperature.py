"""What the claim about the temperature measures."""

import numpy as np

from grpo_ref.lab.claims.temperature import expected_reward
from grpo_ref.lab.framework.tasks.synonyms import PROMPTS, VOCABULARY, right_answers

SHAPE = (PROMPTS * (1 + VOCABULARY), VOCABULARY)


def test_an_ignorant_policy_is_right_by_chance():
    answers = right_answers(right=4, seed=0)
    chance = expected_reward(np.full(SHAPE, -np.log(VOCABULARY)), answers)
    np.testing.assert_allclose(chance, 4 / VOCABULARY**2)


def test_a_policy_that_knows_one_answer_per_prompt_is_always_right():
    answers = right_answers(right=4, seed=0)
    log_probs = np.full(SHAPE, -np.inf)
    roots = np.arange(PROMPTS) * (1 + VOCABULARY)
    first, second = answers[:, 2].T
    log_probs[roots, first] = log_probs[roots + 1 + first, second] = 0.0
    np.testing.assert_allclose(expected_reward(log_probs, answers), 1.0)
