"""Training and what is kept of it."""

import numpy as np

from grpo_ref import GRPO, TASKS, config_for, iter_train, training
from grpo_ref.lab.framework.training import curves, last_state, summarized, trained

SETTINGS = {"task": TASKS["bandit"], "recipe": GRPO, "updates": 10}


def test_trained_keeps_curves_and_their_ends():
    found = trained(**SETTINGS, record=("reward", "entropy"), seeds=3, seed=0)
    assert found["reward"].shape == (3, 10)
    np.testing.assert_array_equal(found["final entropy"], found["entropy"][:, -2:].mean(-1))
    fewer = trained(**SETTINGS, record=("reward", "entropy"), seeds=2, seed=0)
    assert np.array_equal(found["reward"][:2], fewer["reward"])


def test_curves_keep_metrics_and_what_is_measured_on_the_state():
    task = TASKS["bandit"]()
    config = config_for(task, updates=3, seeds=2)
    measured = {"first": lambda state: state.params[:, 0], "done": lambda state: [state.update] * 2}
    found = curves(task, GRPO, config, ("reward", "entropy"), **measured)
    assert {name: curve.shape for name, curve in found.items()} == {
        "reward": (2, 3),
        "entropy": (2, 3),
        "first": (2, task.ref_logits.shape[1], 3),
        "done": (2, 3),
    }
    assert found["done"].tolist() == [[1, 2, 3]] * 2
    (*_, update) = iter_train(task, GRPO, config)
    assert np.array_equal(found["reward"][:, -1], update.metrics["reward"])
    assert np.array_equal(found["first"][..., -1], update.state.params[:, 0])
    np.testing.assert_allclose(last_state(task, GRPO, config).params, update.state.params, rtol=1e-9)


def test_the_fast_loop_is_taken_where_the_curves_allow_it(monkeypatch):
    task, taken = TASKS["bandit"](), []
    plain = training.plain_loop
    monkeypatch.setattr(training, "plain_loop", lambda *rest: taken.append("plain") or plain(*rest))
    curves(task, GRPO, config_for(task, updates=1), ("reward",))
    assert taken == []
    curves(task, GRPO, config_for(task, updates=1), ("reward", "entropy"))
    assert taken == ["plain"]


def test_final_is_the_last_fifth_of_the_updates():
    found = summarized({"reward": np.arange(10.0)[None]})
    assert (found["final reward"].tolist(), found["mean reward"].tolist()) == ([8.5], [4.5])
