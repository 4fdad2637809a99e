"""Recipes and settings that the fast loop supports, and the reason that it gives for the others."""

from dataclasses import replace

import pytest
from device_double import Device

from grpo_ref import DAPO, GRPO, RECIPES, config_for, slot
from grpo_ref.aggregation import token_mean
from grpo_ref.arrays import to_device
from grpo_ref.fast.supported import why_not
from grpo_ref.learning.state import initial_state
from grpo_ref.penalties import k2, k3
from grpo_ref.tasks.bandit import bandit

TASK = bandit()
CONFIG = config_for(TASK, seeds=2)


@pytest.mark.parametrize("name", ["grpo", "dr_grpo", "reinforce_pp"])
def test_usual_recipes_need_no_other_loop(name):
    assert why_not(TASK, RECIPES[name], CONFIG) == ""


UNUSUAL = {
    "keep: train_many does not support mixed_groups": (DAPO, {}),
    "admit: train_many does not support ended_completions": (RECIPES["book_cispo"], {}),
    "level: train_many does not support sequence_mean_level": (RECIPES["gspo"], {}),
    "advantage: train_many does not support step_suffix_sums": (RECIPES["process_grpo"], {}),
    "advantage: train_many does not support gigpo": (RECIPES["gigpo"], {}),
    "surrogate: train_many does not support cispo": (RECIPES["cispo"], {}),
    "penalty: train_many does not support k2": (replace(GRPO, penalty=slot(k2)), {}),
    "penalty: train_many does not support k3(max_value=10.0)": (
        replace(GRPO, penalty=slot(k3, max_value=10.0)),
        {},
    ),
    "corrections: train_many does not support": (RECIPES["book_dr_grpo"], {}),
    "log_ratio_limits: train_many does not support": (replace(GRPO, log_ratio_limits=(-1.0, 1.0)), {}),
    "penalty_aggregate: train_many does not support": (
        replace(GRPO, penalty_aggregate=slot(token_mean)),
        {},
    ),
    "entropy_coef: train_many does not support a run with entropy_coef; use train": (
        GRPO,
        {"entropy_coef": 0.1},
    ),
    "entropy_target: ": (GRPO, {"entropy_target": 1.0}),
    "refilter_every: ": (GRPO, {"refilter_every": 2}),
}


@pytest.mark.parametrize(("reason", "case"), UNUSUAL.items(), ids=[name.split(":")[0] for name in UNUSUAL])
def test_the_first_part_that_needs_the_plain_loop_is_named(reason, case):
    recipe, settings = case
    assert why_not(TASK, recipe, replace(CONFIG, **settings)).startswith(reason)


def test_a_bonus_that_a_state_brings_along_needs_the_plain_loop():
    state = initial_state(TASK, replace(CONFIG, entropy_coef=0.1))
    assert why_not(TASK, GRPO, CONFIG, state).startswith("entropy_coef: ")
    assert why_not(TASK, GRPO, CONFIG, initial_state(TASK, CONFIG)) == ""


def test_arrays_of_another_device_need_the_plain_loop():
    there = to_device(TASK, Device())
    assert (
        why_not(there, GRPO, CONFIG) == "task and state: expected NumPy arrays; on another device use train"
    )
