"""Parts of a recipe that do nothing under given settings are found by trying them."""

from dataclasses import replace

import numpy as np
import pytest
from small_training import teacher_for

from grpo_ref import GRPO, RECIPES, TASKS, config_for, iter_train, slot
from grpo_ref.advantages import leave_one_out, raw_rewards
from grpo_ref.learning.inactive_parts import coinciding, idle_parts, lacks_contrast
from grpo_ref.types import Term

TASK = TASKS["arithmetic"](largest=3)
ONE_STEP = config_for(TASK, updates=3, prompts=8, group_size=4, seeds=2)


def doubled(log_ratio, advantages):
    """Twice the slope of GRPO at a ratio of 1."""
    return Term(2.0 * log_ratio * advantages, slope=2.0 * advantages + 0.0 * log_ratio)


def exponential(log_ratio, advantages):
    """r A, never clipped: the value and the slope of GRPO at a ratio of 1, a user's own."""
    return Term(np.exp(log_ratio) * advantages, slope=np.exp(log_ratio) * advantages)


IDLE = {
    "grpo itself": (GRPO, ()),
    "a wider clip": (RECIPES["dapo"], ("surrogate",)),
    "another level": (RECIPES["gspo"], ("level", "surrogate")),
    "limits that no ratio of 1 meets": (replace(GRPO, log_ratio_limits=(-1.0, 1.0)), ("log_ratio_limits",)),
    "a user's own, unclipped": (replace(GRPO, surrogate=slot(exponential)), ("surrogate",)),
    "a user's own with another slope": (replace(GRPO, surrogate=slot(doubled)), ()),
    "some tokens left out at random": (RECIPES["clip_cov"], ()),
    "a gate that halves the slope": (RECIPES["book_sapo"], ()),
}


@pytest.mark.parametrize(("recipe", "parts"), IDLE.values(), ids=IDLE)
def test_parts_that_cannot_act_on_a_ratio_of_one(recipe, parts):
    assert idle_parts(recipe, ONE_STEP) == parts


@pytest.mark.parametrize("settings", [{"epochs": 2}, {"minibatches": 2}])
def test_with_several_steps_no_part_is_idle(settings):
    assert idle_parts(RECIPES["gspo"], replace(ONE_STEP, **settings)) == ()


@pytest.mark.parametrize("name", ["grpo", "dapo", "cispo"])
def test_recipes_that_coincide_give_the_same_logits_and_others_do_not(name):
    """The claim is tried by training: every recipe, with the penalty of the named one."""
    recipe = RECIPES[name]
    penalty = {"penalty": recipe.penalty, "kl_coef": recipe.kl_coef}
    ends = {}
    for other, one in RECIPES.items():
        other_recipe = replace(one, **penalty)
        teacher = teacher_for(TASK, other_recipe, ONE_STEP)
        *_, last = iter_train(TASK, other_recipe, ONE_STEP, teacher=teacher)
        ends[other] = last.state.params
    same = [other for other, logits in ends.items() if np.allclose(logits, ends[name], rtol=0, atol=1e-9)]
    assert set(coinciding(recipe)) == set(same)


def test_groups_of_one_have_no_contrast_unless_the_advantage_needs_no_group():
    alone = replace(ONE_STEP, group_size=1)
    assert lacks_contrast(TASK, GRPO, alone)
    assert lacks_contrast(TASK, replace(GRPO, advantage=slot(leave_one_out)), alone)
    assert not lacks_contrast(TASK, replace(GRPO, advantage=slot(raw_rewards)), alone)
    assert not lacks_contrast(TASK, RECIPES["reinforce_pp"], alone)
    assert not lacks_contrast(TASK, GRPO, ONE_STEP)
