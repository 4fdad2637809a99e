"""Every recipe has a proper name of its own."""

from grpo_ref.recipes import RECIPES
from grpo_ref.recipes.titles import TITLES, title_of


def test_no_two_recipes_have_the_same_title():
    titles = [title_of(name) for name in RECIPES]
    assert len(set(titles)) == len(titles)


def test_every_title_belongs_to_a_recipe():
    assert set(TITLES) <= set(RECIPES)


def test_no_title_is_a_name_of_code():
    assert not [name for name in RECIPES if "_" in title_of(name)]
