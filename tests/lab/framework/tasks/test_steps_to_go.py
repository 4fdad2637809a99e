"""Questions of some steps: the outcome, and what judges give for the steps."""

import numpy as np

from grpo_ref.lab.framework.tasks.steps_to_go import PLEASURE, drawn_steps
from grpo_ref.learning.rollout import sample, with_steps


def batch_of(**judge):
    made = drawn_steps(6, known=0.5, **judge)
    logits = made.task.ref_logits[None]
    batch = sample(made.task, logits, prompts=400, group_size=50)
    return made, logits, with_steps(made.task, batch)


def test_sampled_and_exact_chances_agree():
    made, logits, batch = batch_of()
    assert abs(batch.rewards.mean() - made.chances(logits)[0, batch.prompts[0]].mean()) < 0.01


def test_a_prompt_is_solved_if_a_sound_judge_likes_every_step():
    _, _, batch = batch_of()
    np.testing.assert_array_equal(batch.step_rewards.min(-1), batch.rewards)


def test_a_flawed_judge_gives_more_for_a_pleasing_move():
    _, _, batch = batch_of(flawed=1.0)
    assert batch.step_rewards.max() == PLEASURE


def test_the_outcome_is_added_to_the_last_step():
    _, _, without = batch_of()
    _, _, added = batch_of(outcome=True)
    np.testing.assert_array_equal((added.step_rewards - without.step_rewards)[..., -1], without.rewards)
