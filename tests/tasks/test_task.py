"""Every task: an automaton that ends where it should."""

import numpy as np
import pytest

from grpo_ref import TASKS
from grpo_ref.learning.rollout import sample
from grpo_ref.learning.task import END
from grpo_ref.tasks.arithmetic import EOS, arithmetic


@pytest.mark.parametrize("build", TASKS.values(), ids=TASKS)
def test_every_task_is_a_complete_automaton(build):
    task = build()
    states, tokens = task.transitions.shape
    assert task.ref_logits.shape == (states, tokens)
    assert len(task.vocabulary) == tokens
    assert len(task.prompts) == len(task.starts) == len(task.prompt_probs)
    assert task.prompt_probs.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.isfinite(task.ref_logits).all()
    assert task.transitions.min() == END
    assert task.transitions.max() < states


@pytest.mark.parametrize("build", TASKS.values(), ids=TASKS)
def test_a_mask_is_a_stretch_from_the_first_token(build):
    task = build()
    batch = sample(task, task.ref_logits[None], prompts=50, group_size=4)
    assert batch.mask[..., 0].all()
    assert (np.diff(batch.mask.astype(int), axis=-1) <= 0).all()
    assert not batch.tokens[~batch.mask].any()
    ended_or_full = batch.ended | (batch.lengths == task.max_length)
    assert ended_or_full.all()


def test_render_writes_prompt_and_completion():
    task = arithmetic()
    mask = np.array([True, True, True, False])
    assert task.render(task.prompts.index("9+8="), np.array([1, 7, EOS, 0]), mask) == "9+8=17"
