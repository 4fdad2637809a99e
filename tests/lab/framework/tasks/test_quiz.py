import numpy as np

from grpo_ref.lab.framework.tasks.quiz import COPIES, quiz
from grpo_ref.learning.policies.table import policy_of


def test_questions_are_as_hard_as_told():
    chances = np.array([0.02, 0.5, 0.9])
    task = quiz(np.random.default_rng(0), chances, mislabelled=0.0)
    np.testing.assert_allclose(policy_of(task.ref_logits).probs[:, 0], chances)
    right = task.verify(np.arange(3 * COPIES), np.zeros((3 * COPIES, 1, 1), int), np.ones((3 * COPIES, 1, 1)))
    assert (right == 1.0).all()


def test_random_labels_ask_for_any_answer():
    task = quiz(np.random.default_rng(0), np.full(50, 0.5), mislabelled=1.0)
    prompts = np.arange(len(task.prompts))
    right = task.verify(prompts, np.zeros((len(prompts), 1, 1), int), np.ones((len(prompts), 1, 1)))
    np.testing.assert_allclose(right.mean(), 1.0 / len(task.vocabulary), atol=0.06)
