"""Questions that look alike: the verifier and the exact chances agree."""

import numpy as np

from grpo_ref.lab.framework.tasks.lookalikes import (
    ALIKE,
    ATTEMPTS,
    drawn_lookalikes,
    pass_at,
    tried,
)
from grpo_ref.learning.rollout import sample


def test_sampled_and_exact_chances_agree():
    drawn = drawn_lookalikes(3, known=0.5)
    logits = drawn.task.ref_logits[None]
    batch = sample(drawn.task, logits, prompts=400, group_size=50)
    exact = drawn.chances(logits)[0, batch.prompts[0]]
    assert abs(batch.rewards.mean() - exact.mean()) < 0.01


def test_without_unusual_answers_a_table_can_answer_everything():
    assert drawn_lookalikes(0, unusual=0.0).best == 1.0
    assert drawn_lookalikes(0, unusual=1.0).best < 1.0


def test_prompts_of_a_kind_look_the_same():
    starts = drawn_lookalikes(1).task.starts.reshape(-1, ALIKE)
    assert (starts == starts[:, :1]).all()


def test_pass_at_k_of_a_known_chance():
    np.testing.assert_allclose(pass_at(np.array([0.1]), (1, 3)), [0.1, 1.0 - 0.9**3])


def test_the_policy_before_training_is_the_same_for_all_seeds():
    measures = tried(recipe=None, seeds=2, seed=5)
    assert measures["pass@k"].shape == (2, len(ATTEMPTS))
    np.testing.assert_array_equal(measures["pass@1"], measures["pass@k"][:, 0])
