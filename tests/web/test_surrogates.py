"""The surrogates that the page computes: numbers worked by hand, and agreement with the kernels on a grid."""

import base64
import json
import subprocess

import numpy as np
import pytest
from in_page import ROOT

from grpo_ref import RECIPES
from grpo_ref.plots.one_token import surrogate_at
from grpo_ref.recipes import CATALOG
from grpo_ref.web.surrogates import families, notes_on

ESBUILD = ROOT / "build" / "page" / "node_modules" / ".bin" / "esbuild"
RATIOS = np.array(
    [0.01, 0.3, 0.79, 0.81, 0.9996, 0.9998, 1.0, 1.0003, 1.0005, 1.19, 1.21, 1.3, 1.76, 2.0, 3.0, 4.5]
)
ADVANTAGES = (-2.0, -0.3, 0.0, 0.5, 2.0)
OF_A_BATCH = {"clip_cov", "kl_cov", "real", "gvpo"}
"""Surrogates that compare the tokens of a batch, or the completions of a group."""
ASK = """
import { point } from "data:text/javascript;base64,PROGRAM";
const asked = JSON.parse(process.argv[1]);
console.log(JSON.stringify(asked.map((each) => point(...each))));
"""


def points(asked):
    """The page's answers to (kernel, settings, ratio, advantage), computed by Node.js."""
    if not ESBUILD.is_file():
        pytest.skip("the page's programs need `make page`")
    source = ROOT / "grpo_ref" / "web" / "surrogate_values.ts"
    made = subprocess.run(
        [ESBUILD, source, "--format=esm"], capture_output=True, text=True, check=True
    ).stdout
    encoded = base64.b64encode(made.encode()).decode()
    program = ASK.replace("PROGRAM", encoded)
    node = ["node", "--input-type=module", "-e", program, json.dumps(asked)]
    return json.loads(subprocess.run(node, capture_output=True, text=True, check=True).stdout)


def family_of(recipe):
    return next(family for family in families() if recipe in family["recipes"])


# recipe, ratio, advantage -> value, slope; the token had probability 0.2 when it was sampled
ROWS = {
    "a good token, likelier by 25 %: clipped at 1.2": ("grpo", 1.25, 1.0, 1.2, 0.0),
    "the same, clipped at 1.28 only": ("dapo", 1.25, 1.0, 1.25, 1.25),
    "a bad token, rarer by half: clipped at 0.8": ("grpo", 0.5, -2.0, -1.6, 0.0),
    "a bad token, twice as likely": ("dr_grpo", 2.0, -1.0, -2.0, -2.0),
    "no ratio: A log πθ": ("reinforce", 1.25, 2.0, 2.0 * np.log(0.25), 2.0),
    "a weight that is no part of the slope": ("cispo", 2.0, 0.5, 2.0 * 0.5 * np.log(0.4), 1.0),
}


def test_points_are_as_worked_by_hand():
    asked = []
    for recipe, ratio, advantage, _, _ in ROWS.values():
        family = family_of(recipe)
        asked.append([family["kernel"], family["settings"], ratio, advantage])
    for (_, _, _, value, slope), found in zip(ROWS.values(), points(asked), strict=True):
        assert found == pytest.approx({"value": value, "slope": slope})


def test_every_surrogate_agrees_with_its_kernel():
    asked, expected = [], []
    for family in families():
        part = CATALOG[next(iter(family["recipes"]))].surrogate
        for advantage in ADVANTAGES:
            of_batch = family["kernel"] in OF_A_BATCH
            curve = None if of_batch else surrogate_at(part, RATIOS, advantage)
            for at, ratio in enumerate(RATIOS):
                asked.append([family["kernel"], family["settings"], ratio, advantage])
                point = {"value": curve.value[at], "slope": curve.slope[at]} if curve else None
                expected.append(point and {name: float(value) for name, value in point.items()})
    for question, found, right in zip(asked, points(asked), expected, strict=True):
        assert found == (right and pytest.approx(right, rel=1e-9, abs=1e-12)), question


def test_every_recipe_is_in_one_family_except_the_textbook_forms():
    names = [name for family in families() for name in family["recipes"]]
    assert sorted(names) == sorted(CATALOG)
    assert not [name for name in names if name.startswith("book_")]
    for family in families():
        assert {str(RECIPES[name].surrogate) for name in family["recipes"]} == {family["surrogate"]}
        assert all(notes_on(CATALOG[name]) == family["notes"] for name in family["recipes"])


def test_a_family_has_the_settings_of_its_surrogate_and_the_defaults():
    assert family_of("cispo")["settings"] == {"min_ratio": 0.0, "max_ratio": 5.0}
    assert family_of("dapo")["settings"] == {"clip_low": 0.2, "clip_high": 0.28}


def test_a_note_says_where_the_slope_is_not_that_of_the_value():
    """The notes agree with finite differences of the kernel's value, and with what has no value."""
    for family in families():
        part, notes = CATALOG[next(iter(family["recipes"]))].surrogate, " ".join(family["notes"])
        assert (family["kernel"] in OF_A_BATCH) == ("has no value or slope" in notes)
        if family["kernel"] in OF_A_BATCH:
            continue
        ratios = np.array([0.7, 1.0001, 1.6, 2.3])
        step = 1e-6
        above, below = (surrogate_at(part, ratios * np.exp(by), 1.0).value for by in (step, -step))
        slope = surrogate_at(part, ratios, 1.0).slope
        is_slope_of_value = np.allclose((above - below) / (2 * step), slope, rtol=1e-4, atol=1e-6)
        is_noted = "not the slope of the drawn value" in notes
        constant_weight = family["kernel"] in ("cispo", "vespo", "dppo_tv", "rollout_is")
        assert is_noted or is_slope_of_value, family["surrogate"]
        assert not (constant_weight and is_slope_of_value), family["surrogate"]


def test_recipes_have_their_proper_names():
    assert family_of("dr_grpo")["recipes"]["dr_grpo"] == "Dr. GRPO"
