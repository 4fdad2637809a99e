"""Formulas: every indented block of a docstring is a formula of the grammar."""

import inspect
import xml.etree.ElementTree as ElementTree
from unicodedata import normalize

import pytest
from package_map import PUBLIC
from website.docstrings import formulas, restructured
from website.parts import parts_of
from website.places import documented

from grpo_ref.recipes import RECIPES
from grpo_ref.render.maths import UnknownMaths, mathml

NO_FORMULAS = ()
"""Names whose docstrings have a block of code."""


def _documented():
    named = {name: documented(name) for name in PUBLIC}
    parts = {part.kernel.__name__: part.kernel for recipe in RECIPES.values() for part in parts_of(recipe)}
    return {
        name: value
        for name, value in {**named, **parts}.items()
        if inspect.isroutine(value) or inspect.isclass(value)
    }


BLOCKS = [
    pytest.param(block, id=name)
    for name, value in _documented().items()
    if name not in NO_FORMULAS
    for block in formulas(inspect.getdoc(value) or "")
]


@pytest.mark.parametrize("block", BLOCKS)
def test_formula_converts_to_whole_mathml(block):
    tree = ElementTree.fromstring(mathml(block))
    assert "math" in {each.tag.rpartition("}")[2] for each in tree.iter()}


@pytest.mark.parametrize("block", BLOCKS)
def test_formula_loses_no_letter(block):
    shown = "".join(ElementTree.fromstring(mathml(block)).itertext())
    assert _letters(shown) == _letters(block.replace("1e-", "1"))


def _letters(text):
    """Return the letters and large signs of a formula, sorted; raised and lowered letters become plain."""
    plain = normalize("NFKD", text.replace("∑", "Σ").replace("∏", "Π"))
    return sorted(letter for letter in plain if letter.isalpha())


SHAPES = {
    "a fraction": ("(a - b) / (c + d)", "mfrac"),
    "a fraction without spaces": ("1/|o| Σₜ zₜ", "mfrac"),
    "an index": ("rₜ", "msub"),
    "a power in brackets": ("γ^(n - 1)", "msup"),
    "a root": ("√(v + 1)", "msqrt"),
    "a bound of a sum": ("Σ_{j≠i} rⱼ", "msub"),
    "a policy": ("πold", "msub"),
}


@pytest.mark.parametrize(("formula", "tag"), SHAPES.values(), ids=SHAPES)
def test_shape(formula, tag):
    assert f"<{tag}>" in mathml(formula)


SLASHES = {
    "a sum over a sum": "Σⱼ |oⱼ| rⱼ / Σⱼ |oⱼ|",
    "a sum whose last factor is divided": "Σ a b / c",
    "a divisor that goes on": "a / b c",
}


@pytest.mark.parametrize("formula", SLASHES.values(), ids=SLASHES)
def test_a_slash_stays_where_it_could_reach_further(formula):
    assert "<mfrac>" not in mathml(formula)


@pytest.mark.parametrize("text", ["a = $", "(a", "a)", "(a]", "|a", "ₜ", 'print("x")', "√"])
def test_what_is_no_formula_is_an_error(text):
    with pytest.raises(UnknownMaths):
        mathml(text)


def test_a_bar_in_prose_is_a_bar():
    assert restructured("The size |o| of `a|b`.") == r"The size \|o\| of `a|b`."


def test_a_table_becomes_a_list_table():
    text = restructured("| a | b |\n|---|---|\n| c | d |\n|   | e |")
    assert ".. list-table::" in text
    assert "- d e" in text
