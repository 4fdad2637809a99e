"""The automata of many runs in one flat table: by hand, and the completions of `rollout`."""

import numpy as np
import pytest

from grpo_ref import TASKS, config_for
from grpo_ref.fast.compiled import CompiledRuns
from grpo_ref.fast.runs import Runs
from grpo_ref.fast.walk import Walk, back, front, tokens_first, tokens_last
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.state import generators_of, initial_state
from grpo_ref.tasks.bandit import bandit

FORMS = (Runs, CompiledRuns)
FIELDS = ("prompts", "tokens", "mask", "ended", "components", "rewards")


def test_front_and_back_are_views_that_undo_each_other():
    array = np.arange(24).reshape(2, 3, 4)
    assert front(array).shape == (4, 2, 3)
    assert back(front(array)).shape == (2, 3, 4)
    assert np.shares_memory(back(front(array)), array)
    np.testing.assert_array_equal(back(front(array)), array)


def test_the_order_of_a_batch_in_memory_is_a_view_that_can_be_undone():
    batch = np.arange(120).reshape(2, 3, 4, 5)
    assert tokens_first(batch).shape == (5, 4, 2, 3)
    assert tokens_first(batch)[4, 3, 1, 2] == batch[1, 2, 3, 4]
    assert np.shares_memory(tokens_last(tokens_first(batch)), batch)
    np.testing.assert_array_equal(tokens_last(tokens_first(batch)), batch)


def test_an_entry_is_the_place_of_a_token_and_its_state():
    """Two runs, 2 contexts, 3 arms: entry = (token * 2 + run) * 2 + state, and 12 is behind them all."""
    task = bandit(contexts=2, arms=3)
    walk = Walk(task, config_for(task, prompts=2, group_size=1), np.full((2, 2), 0.5), [], np.float64)
    probs = np.zeros((3, 2, 2))
    probs[1, 0], probs[2, 1] = 1.0, 1.0  # run 0 always takes arm 1, run 1 always arm 2
    walk.cumulative[:2] = probs.cumsum(0)[:2]
    walk.uniforms[:] = 0.5
    walk.walk(task.starts[np.array([[0, 1], [0, 1]])])
    assert walk.finished == 12
    assert walk.entries[0, 0].tolist() == [[4, 5], [10, 11]]
    assert (walk.state == walk.finished).all()


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("name", TASKS)
def test_the_completions_are_those_of_rollout(name, form):
    task = TASKS[name]()
    config = config_for(task, seeds=3, prompts=5, group_size=4)
    state = initial_state(task, config)
    policy = policy_of(state.params)
    numbers = [generators_of(state.generators) for _ in range(2)]
    table = form.laid_out(policy.probs, np.float64)
    ours = form.walker(task, config, state.prompt_probs, numbers[0], np.float64).draw(table)
    theirs = draw(task, policy, numbers[1], prompts=5, group_size=4, prompt_probs=state.prompt_probs)
    for field in FIELDS:
        np.testing.assert_allclose(getattr(ours, field), getattr(theirs, field), rtol=0, atol=1e-12)
