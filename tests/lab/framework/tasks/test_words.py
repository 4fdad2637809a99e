"""Words that are learned by heart."""

import numpy as np

from grpo_ref.lab.framework.tasks.words import STOP, words_by_heart
from grpo_ref.learning.rollout import sample


def test_a_right_word_ends():
    task = words_by_heart(5)
    batch = sample(task, task.ref_logits[None], prompts=200, group_size=20)
    word, correct = np.moveaxis(batch.components, -1, 0)
    assert correct.any()
    assert (word >= correct).all()
    last = np.take_along_axis(batch.tokens, batch.lengths[..., None] - 1, axis=-1)[..., 0]
    assert (last[correct == 1.0] == STOP).all()


def test_the_reward_for_words_that_end_can_be_left_out():
    assert words_by_heart(5, partial_reward=False).weights.tolist() == [0.0, 1.0]
