"""Training and what is kept of it."""

import numpy as np

from grpo_ref import GRPO, TASKS, config_for, train
from grpo_ref.experiments.framework.training import curves, last, summarized, trained

SETTINGS = {"task": TASKS["bandit"], "recipe": GRPO, "updates": 10}


def test_trained_keeps_curves_and_their_ends():
    found = trained(**SETTINGS, record=("reward", "entropy"), seeds=3, seed=0)
    assert found["reward"].shape == (3, 10)
    np.testing.assert_array_equal(found["final entropy"], found["entropy"][:, -2:].mean(-1))
    fewer = trained(**SETTINGS, record=("reward", "entropy"), seeds=2, seed=0)
    assert np.array_equal(found["reward"][:2], fewer["reward"])


def test_curves_keep_metrics_and_what_is_measured_on_the_state():
    task = TASKS["bandit"]()
    updates = list(train(task, GRPO, config_for(task, updates=3, seeds=2)))
    measured = {"first": lambda state: state.logits[:, 0], "done": lambda state: [state.update] * 2}
    found = curves(updates, ("reward",), **measured)
    assert {name: curve.shape for name, curve in found.items()} == {
        "reward": (2, 3),
        "first": (2, task.ref_logits.shape[1], 3),
        "done": (2, 3),
    }
    assert found["done"].tolist() == [[1, 2, 3]] * 2
    assert np.array_equal(found["first"][..., -1], updates[-1].state.logits[:, 0])
    assert last(updates) is updates[-1].state


def test_final_is_the_last_fifth_of_the_updates():
    found = summarized({"reward": np.arange(10.0)[None]})
    assert (found["final reward"].tolist(), found["mean reward"].tolist()) == ([8.5], [4.5])
