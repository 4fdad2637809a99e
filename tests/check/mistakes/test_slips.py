"""Slips: each changes something, and none is told twice."""

from dataclasses import replace

import pytest

from grpo_ref import RECIPES
from grpo_ref.check.mistakes.slips import slips


@pytest.mark.parametrize("name", RECIPES)
def test_every_slip_changes_the_recipe_and_has_words_of_its_own(name):
    recipe = RECIPES[name]
    found = list(slips(recipe))
    assert len({slip.condition for slip in found}) == len(found) > 0
    for slip in found:
        assert replace(recipe, **slip.parts).differences(recipe), slip.condition


def test_the_penalty_is_a_slip_only_where_it_counts():
    fields = {
        name: {field for slip in slips(RECIPES[name]) for field in slip.parts} for name in ("grpo", "dapo")
    }
    assert fields["grpo"] - fields["dapo"] == {"penalty", "kl_coef", "penalty_aggregate"}


def test_half_widths_that_coincide_are_told_once():
    conditions = [slip.condition for slip in slips(RECIPES["grpo"]) if "symmetric" in slip.condition]
    assert conditions == []  # GRPO's clip is symmetric: both sentences would say what it is
