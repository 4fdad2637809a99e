"""The settings of a training: their bounds, and what a task changes."""

import pytest

from grpo_ref import TASKS, config_for
from grpo_ref.learning.config import TrainConfig

BAD_SETTINGS = {
    "no updates": ({"updates": 0}, "updates: expected a whole number >= 1, got 0"),
    "cold": ({"temperature": 0.0}, "temperature: expected a number > 0, got 0.0"),
    "infinitely hot": ({"temperature": float("inf")}, "temperature: expected a finite number, got inf"),
    "a step without end": (
        {"learning_rate": float("inf")},
        "learning_rate: expected a finite number, got inf",
    ),
    "an infinite bonus": ({"entropy_coef": float("inf")}, "entropy_coef: expected a finite number, got inf"),
    "negative bonus": ({"entropy_coef": -0.1}, "entropy_coef: expected a number >= 0, got -0.1"),
    "more parts than prompts": (
        {"prompts": 2, "minibatches": 3},
        "minibatches: expected at most prompts=2, got 3",
    ),
    "unknown optimizer": ({"optimizer": "adan"}, "optimizer: expected one of sgd, adam, got 'adan'"),
}


@pytest.mark.parametrize(("settings", "message"), BAD_SETTINGS.values(), ids=BAD_SETTINGS)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        TrainConfig(**settings)


def test_a_task_brings_its_own_settings_and_any_may_be_changed():
    task = TASKS["bandit"]()
    assert config_for(task).updates == task.settings["updates"]
    assert config_for(task, updates=3, seeds=None) == TrainConfig(**dict(task.settings) | {"updates": 3})


def test_steps_per_batch():
    assert TrainConfig().steps_per_batch == 1
    assert TrainConfig(epochs=3, minibatches=4).steps_per_batch == 12
