import numpy as np

from grpo_ref.lab.framework.tasks.answer_and_talk import answer_and_talk, expected_lengths
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.rollout import draw


def test_expected_lengths_are_those_of_sampled_completions():
    task, asked, sure = answer_and_talk(3)
    policy = policy_of((task.ref_logits + np.random.default_rng(0).normal(size=task.ref_logits.shape))[None])
    batch = draw(task, policy, [np.random.default_rng(1)], prompts=4000, group_size=8)
    lengths, right = batch.mask.sum(-1), batch.rewards == 1.0
    logits = policy.log_probs[0]
    expected = expected_lengths(logits, np.stack([asked, 1.0 - asked]), sure, task.max_length)
    np.testing.assert_allclose([lengths[right].mean(), lengths[~right].mean()], expected, rtol=0.03)


def test_a_state_that_always_tells_is_the_one_of_the_right_answer():
    _, asked, sure = answer_and_talk(0, sense=1.0, luck=False)
    assert np.array_equal(sure, asked == 1.0)


def test_without_a_sense_there_is_a_single_state():
    _, _, sure = answer_and_talk(0, sense=0.0)
    assert not sure.any()
