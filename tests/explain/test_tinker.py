"""The Tinker cookbook: what its keys compute."""

import re
from math import e, log

import numpy as np
import pytest

from grpo_ref import policy_loss
from grpo_ref.explain.dialects import tinker
from grpo_ref.explain.dialects.tinker.kernels import centered_less_kl
from grpo_ref.explain.dialects.tinker.objective import bounds
from grpo_ref.explain.launch import launches

DIALECT = tinker.DIALECT
LOW, HIGH = "loss_fn_config.clip_low_threshold", "loss_fn_config.clip_high_threshold"
# configuration -> parts of the recipe, as text
PARTS = {
    "nothing given": (
        {},
        {
            "advantage": "group_centered",
            "surrogate": "importance_weighted",
            "aggregate": "token_sum",
            "kl_coef": "0.0",
            "keep": "all_groups",
        },
    ),
    "ppo": (
        {"loss_fn": "ppo", HIGH: 1.28},
        {"surrogate": "clipped(clip_low=0.19999999999999996, clip_high=0.28)"},
    ),
    "cispo": ({"loss_fn": "cispo"}, {"surrogate": "cispo(min_ratio=0.0, max_ratio=4.0)"}),
    "dro": ({"loss_fn": "dro", "loss_fn_config": {"beta": 0.1}}, {"surrogate": "squared_ratio(beta=0.1)"}),
    "bounds below 1": (
        {"loss_fn": "ppo", LOW: 0.25, HIGH: 0.5},
        {"surrogate": "clipped_as_given(clip_low=0.75, clip_high=-0.5)"},
    ),
    "a penalty": ({"kl_penalty_coef": 0.5}, {"advantage": "centered_less_kl(kl_coef=0.5)"}),
    "a filter": ({"remove_constant_reward_groups": True}, {"keep": "mixed_groups"}),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {name: re.sub(r"0\.28\d+", "0.28", text) for name, text in tinker.recipe(**config).parts().items()}
    assert {name: ours[name] for name in parts} == parts


REFUSED = {
    "bounds out of order": (
        {"loss_fn": "ppo", LOW: 2.0},
        "bounds of the ratio that are out of order, 2.0 and 1.2",
    ),
    "dro without beta": ({"loss_fn": "dro"}, "loss_fn_config.beta: dro cannot be expressed"),
    "a loss that is none": ({"loss_fn": "grpo"}, "loss_fn: expected one of 'importance_sampling'"),
    "a discount": ({"kl_discount_factor": 0.9}, "kl_discount_factor = 0.9 cannot be expressed"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_a_refused_value_is_named(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        tinker.recipe(**config)


def test_the_kl_of_a_token_is_compared_with_the_mean_of_the_batch():
    """Rewards 1 and 0 give ±0.5. Log-ratios 1, 3 and 2 have the mean 2, so the bonus is 0.1 (2 - d)."""
    old = np.array([[[1.0, 3.0], [2.0, 9.0]]])
    found = centered_less_kl(
        np.array([[1.0, 0.0]]), np.array([[[1, 1], [1, 0]]]), old, np.zeros_like(old), kl_coef=0.1
    )
    np.testing.assert_allclose(found, [[[0.6, 0.4], [-0.5, 0.0]]], rtol=1e-12)


# the loss -> its value; two completions of 2 tokens and of 1, advantages 1 and -2, ratios 1.5, 1 and e
VALUES = {
    "importance_sampling": -(1.5 + 1.0 - 2 * e),
    "ppo": -(1.2 + 1.0 - 2 * e),
    # log-probabilities -2 + log 1.5, -2 and -1; ratios below the cap of 4
    "cispo": -(1.5 * (-2.0 + log(1.5)) - 2.0 - 2 * e * -1.0),
    # A log π less 0.05 (log r)²
    "dro": -(-2.0 + log(1.5) - 2.0 + 2.0 - 0.05 * (log(1.5) ** 2 + 1.0)),
}


@pytest.mark.parametrize("name", VALUES)
def test_the_losses_are_sums_over_tokens(name):
    ratios, mask = np.log(np.array([[[1.5, 1.0], [e, 7.0]]])), np.array([[[1, 1], [1, 0]]])
    recipe = tinker.recipe(loss_fn=name, **({"loss_fn_config": {"beta": 0.1}} if name == "dro" else {}))
    old = np.full(ratios.shape, -2.0)
    found = policy_loss(old + ratios, np.array([[1.0, -2.0]]), mask, recipe=recipe, old_log_probs=old)
    np.testing.assert_allclose(found.loss, VALUES[name], rtol=1e-12)


def test_the_bounds_are_those_of_the_service_unless_given():
    assert bounds(DIALECT.settings({"loss_fn": "ppo"})) == (0.8, 1.2)
    assert bounds(DIALECT.settings({"loss_fn": "cispo", HIGH: 5.0})) == (0.0, 5.0)


LINE = (
    "python -m tinker_cookbook.recipes.math_rl.train env=math group_size=16 groups_per_batch=64 loss_fn=ppo"
)


def test_a_recipe_of_the_cookbook_is_known_by_its_module():
    (launch,) = launches(f"{LINE} loss_fn_config='{{\"clip_high_threshold\": 1.28}}'")
    assert (launch.trainer, launch.keys["group_size"], launch.keys[HIGH]) == ("tinker", 16, 1.28)


def test_supervised_recipes_are_not_taken_for_it():
    with pytest.raises(ValueError, match=r"no command in it|no trainer is known"):
        launches("python -m tinker_cookbook.recipes.chat_sl.train learning_rate=1e-4 batch_size=8", "a.sh")
