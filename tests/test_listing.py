"""A listing is a dictionary that knows what may have been meant."""

import copy
import pickle

import pytest

from grpo_ref import GRPO, RECIPES
from grpo_ref.listing import LazyListing, Listing, UnknownName, nearest, unknown

METALS = Listing("metal", {"gold": 79, "silver": 47})


def test_a_listing_is_a_dictionary():
    assert METALS == {"gold": 79, "silver": 47}
    assert list(METALS) == ["gold", "silver"]
    assert METALS | {"tin": 50} == {"gold": 79, "silver": 47, "tin": 50}
    assert METALS.get("lead") is None
    assert "lead" not in METALS


@pytest.mark.parametrize("same", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_still_knows_what_it_lists(same):
    with pytest.raises(UnknownName, match="no metal 'lead'"):
        same(METALS)["lead"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("silber", "no metal 'silber'; did you mean 'silver'?"),
        ("GOLD", "no metal 'GOLD'; did you mean 'gold'?"),
        ("tin", "no metal 'tin'; there are: gold, silver"),
        (7, "no metal 7; there are: gold, silver"),
    ],
)
def test_an_unknown_name_is_said_in_words(name, said):
    with pytest.raises(KeyError) as error:
        METALS[name]
    assert str(error.value) == said


def test_an_unlisted_name_is_found_and_suggested_but_not_listed():
    metals = Listing("metal", {"gold": 79, "silver": 47}, unlisted=["silver"])
    assert metals["silver"] == 47
    assert list(metals) == ["gold", "silver"]
    assert unknown("metal", "silber", metals) == "no metal 'silber'; did you mean 'silver'?"
    assert unknown("metal", "tin", metals) == "no metal 'tin'; there are: gold"


def test_a_listing_of_nothing_says_so():
    assert unknown("metal", "gold", []) == "no metal 'gold'; there are: none"
    assert nearest("gold", []) is None


def test_recipes_are_a_listing():
    assert RECIPES["grpo"] is GRPO
    with pytest.raises(KeyError, match=r"no recipe 'dap'; did you mean 'dapo'\?"):
        RECIPES["dap"]
    with pytest.raises(KeyError) as error:
        RECIPES["zzz"]
    assert "book_" not in str(error.value)


def test_a_lazy_listing_loads_what_is_looked_up():
    asked = []
    lazy = LazyListing("metal", ("gold", "silver"), lambda name: asked.append(name) or name.upper())
    assert list(lazy) == ["gold", "silver"]
    assert len(lazy) == 2
    assert "gold" in lazy
    assert "lead" not in lazy
    assert asked == []
    assert lazy["silver"] == "SILVER"
    assert asked == ["silver"]
    with pytest.raises(UnknownName, match="no metal 'silber'; did you mean 'silver'"):
        lazy["silber"]
