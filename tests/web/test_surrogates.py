"""What the page tells of the surrogates: numbers worked by hand, and curves that agree with them."""

import numpy as np
import pytest

from grpo_ref import RECIPES
from grpo_ref.recipes import CATALOG
from grpo_ref.web.surrogates import curves, families, points

# recipe, ratio, advantage -> value, slope; the token had probability 0.2 when it was sampled
ROWS = {
    "a good token, likelier by 25 %: clipped at 1.2": ("grpo", 1.25, 1.0, 1.2, 0.0),
    "the same, clipped at 1.28 only": ("dapo", 1.25, 1.0, 1.25, 1.25),
    "a bad token, rarer by half: clipped at 0.8": ("grpo", 0.5, -2.0, -1.6, 0.0),
    "a bad token, twice as likely": ("dr_grpo", 2.0, -1.0, -2.0, -2.0),
    "no ratio: A log πθ": ("reinforce", 1.25, 2.0, 2.0 * np.log(0.25), 2.0),
    "a weight that is no part of the slope": ("cispo", 2.0, 0.5, 2.0 * 0.5 * np.log(0.4), 1.0),
}


def place_of(recipe):
    return next(at for at, family in enumerate(families()) if recipe in family["recipes"])


@pytest.mark.parametrize(("recipe", "ratio", "advantage", "value", "slope"), ROWS.values(), ids=ROWS)
def test_a_point_is_as_worked_by_hand(recipe, ratio, advantage, value, slope):
    assert points(ratio, advantage)[place_of(recipe)] == pytest.approx({"value": value, "slope": slope})


@pytest.mark.parametrize("at", [0, 79, 119, 299])
def test_a_curve_is_made_of_points(at):
    found = curves(-0.5)
    for point, curve in zip(points(found["ratios"][at], -0.5), found["curves"], strict=True):
        assert (point is None) == (curve is None)
        if point:
            assert point == pytest.approx({name: values[at] for name, values in curve.items()})


def test_the_curves_go_up_to_the_largest_ratio():
    ratios = curves(1.0)["ratios"]
    assert (ratios[0], ratios[-1], len(ratios)) == (0.01, 3.0, 300)


def test_every_recipe_is_in_one_family_except_the_textbook_forms():
    names = [name for family in families() for name in family["recipes"]]
    assert sorted(names) == sorted(CATALOG)
    assert not [name for name in names if name.startswith("book_")]
    for family in families():
        assert {str(RECIPES[name].surrogate) for name in family["recipes"]} == {family["surrogate"]}


def test_what_needs_a_batch_has_no_point():
    for recipe in ("clip_cov", "kl_cov", "real", "gvpo"):
        assert points(1.0, 1.0)[place_of(recipe)] is None
        assert curves(1.0)["curves"][place_of(recipe)] is None


def test_recipes_have_their_proper_names():
    assert families()[place_of("dr_grpo")]["recipes"]["dr_grpo"] == "Dr. GRPO"
