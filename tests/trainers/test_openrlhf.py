"""OpenRLHF: what its keys compute."""

import pytest

from grpo_ref.trainers import openrlhf

# configuration -> parts of the recipe, as text
PARTS = {
    "gspo by completion": (
        {"policy_loss_type": "gspo"},
        {
            "level": "sequence_mean_level",
            "aggregate": "sequence_mean_token_mean(count_empty=False, eps=1e-08)",
        },
    ),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()"} | openrlhf.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts
