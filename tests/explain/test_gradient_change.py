"""How much a change of the configuration changes the gradient."""

import math
from dataclasses import replace

import numpy as np
import pytest

from grpo_ref.aggregation import token_mean, token_sum_over
from grpo_ref.explain.gradient_change import change, gradient
from grpo_ref.explain.recipe_differences import contrast
from grpo_ref.recipes import DAPO, DR_GRPO, GRPO, RECIPES, slot


def test_nothing_changes_nothing_and_a_factor_changes_what_it_should():
    assert change(GRPO, GRPO) == 0.0
    ours = replace(GRPO, kl_coef=0.0, aggregate=slot(token_sum_over, tokens=1000))
    double = replace(ours, aggregate=slot(token_sum_over, tokens=500))
    assert change(ours, double) == pytest.approx(0.5)
    assert change(double, ours) == pytest.approx(0.5)


def test_a_loss_without_a_gradient_is_all_of_it():
    empty = replace(GRPO, kl_coef=0.0, advantage=slot(zeros))
    assert change(replace(GRPO, kl_coef=0.0), empty) == 1.0
    assert change(empty, empty) == 0.0


def zeros(rewards):
    """No advantage for anybody."""
    return rewards * 0.0


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_has_a_gradient_on_the_typical_batch(name):
    found = gradient(RECIPES[name])
    assert np.isfinite(found).all()
    assert np.abs(found).max() > 0.0


def test_the_batch_has_as_many_completions_as_are_asked_for_up_to_sixteen():
    assert [gradient(GRPO, size).shape[1] for size in (1, 2, 8, 64)] == [2, 2, 8, 16]


def test_differences_come_by_their_size_each_alone():
    found = contrast(GRPO, DAPO)
    sizes = [each.change for each in found]
    assert sizes == sorted(sizes, reverse=True)
    by_part = {each.part: each for each in found}
    alone = change(GRPO, replace(GRPO, aggregate=slot(token_mean)))
    assert by_part["aggregate"].change == pytest.approx(alone)
    assert (by_part["kl_coef"].ours, by_part["kl_coef"].theirs) == ("0.04", "0.0")


def test_penalties_without_weight_are_no_difference():
    ours = replace(DR_GRPO, penalty=RECIPES["dapo"].penalty)
    assert contrast(ours, DR_GRPO) == []


def test_a_part_that_does_not_fit_alone_has_no_number():
    ours = replace(GRPO, corrections=(slot(needs_more),))
    assert math.isnan(contrast(GRPO, ours)[0].change)


def needs_more(unheard_of):
    """Reads what no batch has."""
    return unheard_of
