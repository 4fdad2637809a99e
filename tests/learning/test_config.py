"""The settings of a training: their bounds, and what a task changes."""

import pytest

from grpo_ref.learning.config import TrainConfig

BAD_SETTINGS = {
    "no updates": ({"updates": 0}, "updates: expected a whole number >= 1, got 0"),
    "cold": ({"temperature": 0.0}, "temperature: expected a number > 0, got 0.0"),
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
