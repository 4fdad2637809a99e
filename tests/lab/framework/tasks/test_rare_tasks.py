"""Tasks in which what is right is rare at the start."""

import numpy as np

from grpo_ref.lab.framework.tasks.key_token import KEY, key_token
from grpo_ref.lab.framework.tasks.rare_answer import VARIANTS, rare_answer
from grpo_ref.learning.policies.table import policy_of


def test_the_rare_token_and_the_answer_after_it_start_as_likely_as_told():
    task = key_token(contexts=3, tokens=5, probability=0.01, known=0.4, luck=0.0, seed=1)
    probs = policy_of(task.ref_logits).probs
    assert np.allclose(probs[:3, KEY], 0.01)
    assert np.allclose(probs[3:].max(-1), 0.4)


def test_a_guess_is_right_for_as_many_prompts_as_luck_says():
    task = key_token(contexts=3, tokens=5, probability=0.01, known=0.4, luck=0.3, seed=1)
    prompts = np.arange(len(task.prompts))
    guesses = np.full((len(prompts), 1, 2), 2)
    assert np.isclose(task.verify(prompts, guesses, np.ones(guesses.shape, dtype=bool)).mean(), 0.3)


def test_the_right_answer_always_pays_and_the_others_by_luck():
    task = rare_answer(contexts=2, answers=6, probability=0.05, spread=1.0, luck=0.25, seed=1)
    assert np.allclose(policy_of(task.ref_logits).probs[:, 0], 0.05)
    prompts = np.arange(2 * VARIANTS)
    pulled = np.broadcast_to(np.arange(6)[None, :, None], (len(prompts), 6, 1))
    means = task.verify(prompts, pulled, np.ones(pulled.shape, dtype=bool))[..., 0].mean(0)
    assert np.allclose(means, [1.0, *[0.25] * 5])
