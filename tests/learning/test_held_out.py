"""Prompts that training never draws."""

import numpy as np
import pytest

from grpo_ref import TASKS
from grpo_ref.learning.held_out import GREEDY, has_held_out, held_out, held_out_rates
from grpo_ref.learning.policies.table import TABLE

SUMS = TASKS["sums"](digits=1)


def test_what_is_held_out_is_drawn_evenly_and_nothing_else():
    task = held_out(SUMS)
    drawn = task.prompt_probs > 0.0
    assert np.array_equal(drawn, SUMS.prompt_probs == 0.0)
    np.testing.assert_allclose(task.prompt_probs[drawn], 1.0 / drawn.sum())
    assert not has_held_out(TASKS["bandit"]())


def test_a_task_that_holds_nothing_out_is_refused():
    with pytest.raises(ValueError, match="bandit holds no prompts out"):
        held_out(TASKS["bandit"]())


def test_rates_are_those_of_the_criteria():
    """A table of one state writes its likeliest token for ever: the end at once, which is never a sum."""
    params = np.zeros((2, *SUMS.ref_logits.shape))
    params[..., -1] = 1.0
    rates = held_out_rates(SUMS, params, TABLE, prompts=50, temperature=GREEDY)
    assert np.array_equal(rates, np.zeros((2, 2)))
