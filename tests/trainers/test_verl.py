"""verl: what its keys compute, and what it alone does."""

from math import inf

import pytest

from grpo_ref.trainers import verl
from grpo_ref.trainers.verl.quirks import torch_permutation

# configuration -> parts of the recipe, as text
PARTS = {
    "dual clip is always on": (
        {},
        {
            "surrogate": "dual_clipped(clip_low=0.2, clip_high=0.2, max_ratio=3.0)",
            "log_ratio_limits": "(-20.0, 20.0)",
        },
    ),
    "clip_ratio counts only where low and high are taken away": (
        {"clip_ratio": 0.1, "clip_ratio_low": None},
        {"surrogate": "dual_clipped(clip_low=0.1, clip_high=0.2, max_ratio=3.0)"},
    ),
    "with its groups": (
        {
            "actor_rollout_ref": {"actor": {"policy_loss": {"loss_mode": "cispo"}}},
            "algorithm.filter_groups.enable": True,
        },
        {"surrogate": "cispo(min_ratio=0.8, max_ratio=1.2)", "keep": "mixed_groups"},
    ),
    "gspo forces its average": (
        {"loss_mode": "gspo", "loss_agg_mode": "token-mean"},
        {"aggregate": "sequence_mean_token_mean(count_empty=False, eps=1e-08)"},
    ),
    "a window is written low_high": (
        {"rollout_is": "token", "rollout_is_threshold": "0.5_5.0"},
        {"corrections": "(masked(level=token_level, min_ratio=0.5, max_ratio=5.0, max_log_ratio=20.0))"},
    ),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()"} | verl.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


def test_limits():
    assert verl.recipe(loss_mode="gspo").log_ratio_limits == (-inf, 10.0)
    assert verl.recipe().log_ratio_limits == (-20.0, 20.0)


def test_groups_without_effect_are_passed_over_whatever_they_hold():
    config = {
        "critic": {"anything": 1},
        "trainer": {"logger": ["console"]},
        "actor": {"clip_ratio_high": 0.28},
    }
    assert verl.recipe(**config) == verl.recipe(clip_ratio_high=0.28)


def test_a_key_that_is_beyond_may_be_given_its_idle_value():
    assert verl.recipe(use_kl_in_reward=False, rollout_rs=None) == verl.recipe()


def test_every_loss_mode_is_tried_by_convert_but_the_one_that_needs_a_number():
    assert set(verl.MODES) - set(verl.DIALECT.choices["loss_mode"]) == {"dro"}


def test_a_shuffle_holds_each_number_once_and_depends_on_the_seed():
    assert sorted(torch_permutation(9, 0)) == list(range(9))
    assert torch_permutation(9, 0) != torch_permutation(9, 1)
    assert torch_permutation(0, 0) == []
