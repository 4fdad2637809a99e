"""Each mistake changes the recipe, and none is listed twice."""

from dataclasses import replace

import pytest

from grpo_ref import RECIPES
from grpo_ref.check.mistakes.recipes import mistakes


@pytest.mark.parametrize("name", RECIPES)
def test_every_mistake_changes_the_recipe_and_has_its_own_condition(name):
    recipe = RECIPES[name]
    listed = list(mistakes(recipe))
    assert len({mistake.condition for mistake in listed}) == len(listed) > 0
    for mistake in listed:
        assert replace(recipe, **mistake.parts).differences(recipe), mistake.condition


def test_mistakes_of_the_penalty_are_listed_only_if_there_is_a_penalty():
    fields = {
        name: {field for mistake in mistakes(RECIPES[name]) for field in mistake.parts}
        for name in ("grpo", "dapo")
    }
    assert fields["grpo"] - fields["dapo"] == {"penalty", "kl_coef", "penalty_aggregate"}


def test_half_widths_that_coincide_are_listed_once():
    symmetric = [mistake for mistake in mistakes(RECIPES["grpo"]) if "symmetric" in mistake.condition]
    assert symmetric == []  # GRPO's clip is symmetric, so both conditions would describe GRPO itself
