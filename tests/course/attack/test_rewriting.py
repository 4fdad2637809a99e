"""Rewriting: one place at a time, and the program is afterwards as before."""

import ast

import pytest

from grpo_ref.course.attack.rewriting import pattern, places, rewritten

PATTERNS = {
    "a wildcard stands for any expression": ("A / B", "B / A", "x[0] / (y + 1)", ["(y + 1) / x[0]"]),
    "the same wildcard is the same expression": ("A - A", "0", "x - x", ["0"]),
    "another expression does not match": ("A - A", "0", "x - y", []),
    "a call with its keyword": (
        "A.sum(B, keepdims=True)",
        "A.sum(B)",
        "x.sum(-1, keepdims=True)",
        ["x.sum(-1)"],
    ),
    "a call without it does not match": ("A.sum(B, keepdims=True)", "A.sum(B)", "x.sum(-1)", []),
    "precedence is kept": ("np.exp(A)", "A ** 2", "np.exp(x + y)", ["(x + y) ** 2"]),
}


@pytest.mark.parametrize(("before", "after", "text", "expected"), PATTERNS.values(), ids=PATTERNS)
def test_a_pattern(before, after, text, expected):
    node = ast.parse(text, mode="eval").body
    assert [ast.unparse(each) for each in pattern(before, after)(node)] == expected


def test_every_place_is_rewritten_alone_and_the_program_is_left_as_it_was():
    tree = ast.parse("y = a / b + c / d")
    texts = list(rewritten(tree, tree, pattern("A / B", "A * B")))
    assert texts == ["y = a * b + c / d", "y = a / b + c * d"]
    assert ast.unparse(tree) == "y = a / b + c / d"


def test_places_come_in_the_order_of_the_text():
    names = [node.id for _, node in places(ast.parse("a + b * c")) if isinstance(node, ast.Name)]
    assert names == ["a", "b", "c"]
