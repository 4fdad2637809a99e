import numpy as np
import pytest

from grpo_ref.lab.framework.tasks.synonyms import PROMPTS, VOCABULARY, modes, right_answers, synonyms
from grpo_ref.learning.policies.table import log_softmax


def test_a_uniform_policy_gives_every_right_answer():
    answers = right_answers(right=4, seed=0)
    uniform = log_softmax(np.zeros((PROMPTS * (1 + VOCABULARY), VOCABULARY)))
    assert modes(uniform, answers) == pytest.approx(4.0)


def test_a_policy_with_a_single_first_token_gives_one_answer():
    answers = right_answers(right=4, seed=0)
    logits = np.zeros((PROMPTS * (1 + VOCABULARY), VOCABULARY))
    logits[np.arange(PROMPTS) * (1 + VOCABULARY), answers[:, 0, 0]] = 50.0
    assert modes(log_softmax(logits), answers) == pytest.approx(1.0)


def test_right_answers_are_right():
    task, answers = synonyms(right=3), right_answers(right=3, seed=0)
    prompts = np.arange(PROMPTS)
    assert task.verify(prompts, answers, np.ones_like(answers, bool)).all()
    wrong = (answers + np.array([0, 1])) % VOCABULARY
    assert not task.verify(prompts, wrong, np.ones_like(answers, bool)).any()
