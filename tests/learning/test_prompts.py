"""Prompts are admitted anew by their pass rate."""

import numpy as np
from small_training import finish

from grpo_ref import GRPO
from grpo_ref.tasks.arithmetic import arithmetic


def test_prompts_outside_the_pass_rate_are_not_drawn_until_they_are_admitted_again():
    """With a bound that no prompt meets all are admitted; else only those whose own group was inside."""
    task = arithmetic()
    nobody = finish(task, GRPO, refilter_every=1, pass_reward=1e9, pass_low=0.5)[-1].state.prompt_probs
    np.testing.assert_allclose(nobody, task.prompt_probs[None], rtol=1e-12)
    updates = finish(task, GRPO, refilter_every=3, pass_reward=0.05, pass_low=0.1, pass_high=0.9, seeds=2)
    probs = [update.state.prompt_probs for update in updates]
    assert 0 < np.count_nonzero(probs[0]) < probs[0].size
    np.testing.assert_allclose(probs[0].sum(-1), 1.0)
    np.testing.assert_array_equal(probs[0], probs[2])
    assert not np.array_equal(probs[2], probs[3])
    assert not np.array_equal(probs[0][0], probs[0][1])
