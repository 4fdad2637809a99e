"""`train` chooses its loop: the fast one where no more than its metrics are asked for, else the plain one."""

from dataclasses import replace

import numpy as np
import pytest
from device_double import Device

from grpo_ref import GRPO, RECIPES, TASKS, config_for, iter_train, training
from grpo_ref.arrays import to_device
from grpo_ref.fast.many_seeds import train_many
from grpo_ref.learning.loop import plain_loop
from grpo_ref.learning.state import initial_state

TASK = TASKS["bandit"]()
CONFIG = config_for(TASK, updates=3, seeds=2)


def assert_same_bits(ours, theirs, names):
    for one, other in zip(ours, theirs, strict=True):
        assert tuple(one.metrics) == names
        for name in names:
            assert np.array_equal(one.metrics[name], other.metrics[name])
        assert np.array_equal(one.state.params, other.state.params)


def test_all_metrics_come_from_the_plain_loop():
    plain = list(plain_loop(TASK, GRPO, CONFIG))
    assert_same_bits(iter_train(TASK, GRPO, CONFIG), plain, tuple(plain[0].metrics))


FAST = {
    "the reward": (("reward",), GRPO, {}),
    "a criterion and the length": (("payoff", "length"), GRPO, {}),
    "nothing at all": ((), GRPO, {}),
    "another usual recipe": (["reward"], RECIPES["dr_grpo"], {"epochs": 2}),
}
PLAIN = {
    "a metric that the fast loop lacks": (("reward", "entropy"), GRPO, {}),
    "a recipe that the fast loop lacks": (("reward",), RECIPES["gspo"], {}),
    "a setting that the fast loop lacks": (("reward",), GRPO, {"entropy_coef": 0.1}),
}


@pytest.mark.parametrize(("metrics", "recipe", "settings"), FAST.values(), ids=FAST)
def test_the_fast_loop_is_taken_where_it_applies(metrics, recipe, settings):
    config = replace(CONFIG, **settings)
    fast = list(train_many(TASK, recipe, config, metrics=metrics))
    assert_same_bits(iter_train(TASK, recipe, config, metrics=metrics), fast, tuple(metrics))


@pytest.mark.parametrize(("metrics", "recipe", "settings"), PLAIN.values(), ids=PLAIN)
def test_the_plain_loop_is_taken_elsewhere(metrics, recipe, settings):
    config = replace(CONFIG, **settings)
    plain = list(plain_loop(TASK, recipe, config))
    assert_same_bits(iter_train(TASK, recipe, config, metrics=metrics), plain, metrics)


def test_a_large_vocabulary_takes_the_plain_loop(monkeypatch):
    monkeypatch.setattr(training, "train_many", None)
    task = TASKS["bandit"](arms=training.LARGEST_VOCABULARY + 1)
    config = config_for(task, updates=1, seeds=2)
    plain = list(plain_loop(task, GRPO, config))
    assert_same_bits(iter_train(task, GRPO, config, metrics=("reward",)), plain, ("reward",))


def test_arrays_on_a_device_take_the_plain_loop(monkeypatch):
    monkeypatch.setattr(training, "train_many", None)
    there = to_device(TASK, Device())
    assert [list(update.metrics) for update in iter_train(there, GRPO, CONFIG, metrics=["reward"])] == [
        ["reward"]
    ] * 3


@pytest.mark.parametrize("name", TASKS)
def test_both_loops_give_the_same_curves(name):
    task = TASKS[name]()
    config = config_for(task, updates=10, seeds=2, epochs=2)
    names = (*task.criteria, "reward", "length", "truncated", "reward_width")
    for ours, theirs in zip(
        iter_train(task, GRPO, config, metrics=names), plain_loop(task, GRPO, config), strict=True
    ):
        for metric in names:
            np.testing.assert_allclose(ours.metrics[metric], theirs.metrics[metric], rtol=0, atol=1e-10)


def test_a_state_is_continued_by_either_loop():
    first, *_, last = iter_train(TASK, GRPO, CONFIG)
    *_, fast = iter_train(TASK, GRPO, CONFIG, first.state, metrics=("reward",))
    np.testing.assert_allclose(fast.state.params, last.state.params, rtol=0, atol=1e-10)


def test_a_state_of_another_optimizer_is_told():
    with pytest.raises(ValueError, match="state: expected what adam keeps"):
        next(iter_train(TASK, GRPO, CONFIG, initial_state(TASK, replace(CONFIG, optimizer="sgd"))))
