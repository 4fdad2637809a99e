"""Formulas in LaTeX: bounds of sums, and where a formula may break."""

import xml.etree.ElementTree as ElementTree

import pytest

pytest.importorskip("docutils")
latex = pytest.importorskip("website.latex", reason="needs latex2mathml")

PLAIN = (
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><{tag}><mo>{sign}</mo><mi>i</mi>{top}</{tag}></math>'
)
BOUNDS = {
    "a sum with two bounds": ("msubsup", "∑", "<mi>n</mi>", "munderover"),
    "a product with one bound": ("msub", "∏", "", "munder"),
    "an index is no bound": ("msub", "x", "", "msub"),
}


@pytest.mark.parametrize(("tag", "sign", "top", "expected"), BOUNDS.values(), ids=BOUNDS)
def test_bounds_are_below_and_above_a_sum(tag, sign, top, expected):
    root = ElementTree.fromstring(latex.with_limits(PLAIN.format(tag=tag, sign=sign, top=top)))
    assert root[0].tag.rpartition("}")[2] == expected


GAPS = {
    "a gap": (r"a = b, \qquad c = d", ["a = b,", "c = d"]),
    "a gap on a line of its own": ("a,\n\\qquad\nb", ["a,", "b"]),
    "a gap in braces": (r"\text{a \qquad b}", [r"\text{a \qquad b}"]),
    "a gap in an environment": (r"\begin{aligned} a \qquad b \end{aligned}",) * 2,
}


@pytest.mark.parametrize(("formula", "parts"), GAPS.values(), ids=GAPS)
def test_a_formula_breaks_at_its_gaps(formula, parts):
    assert latex.separate(formula) == ([parts] if isinstance(parts, str) else parts)
