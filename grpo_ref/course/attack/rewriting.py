"""Rewriting one place of a program's syntax tree at a time."""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

Rewrite = Callable[[ast.AST], Iterable[ast.AST]]
"""What may stand in the place of a node; nothing if the rule does not apply there."""
WILDCARDS = frozenset("ABCD")


class Place(NamedTuple):
    """Where a node stands.

    Attributes:
      parent: the node above it.
      field: the field of the parent that holds it.
      position: its index in that field, or None if the field holds it alone.
    """

    parent: ast.AST
    field: str
    position: int | None

    def put(self, node: ast.AST) -> None:
        """Replace what stands there."""
        if self.position is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.position] = node


def places(tree: ast.AST) -> Iterator[tuple[Place, ast.AST]]:
    """Every node below a tree with its place, in the order of the text."""
    for field, value in ast.iter_fields(tree):
        items = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, node in items:
            if isinstance(node, ast.AST):
                yield Place(tree, field, index), node
                yield from places(node)


def rewritten(tree: ast.AST, whole: ast.AST, rewrite: Rewrite) -> Iterator[str]:
    """The text of the whole program, once for each place below the tree and each way to rewrite it."""
    for place, node in list(places(tree)):
        for other in rewrite(node):
            place.put(other)
            try:
                yield ast.unparse(ast.fix_missing_locations(whole))
            finally:
                place.put(node)


def pattern(before: str, *after: str) -> Rewrite:
    """A rule on expressions in which A, B, C and D stand for any expression.

    >>> rewrite = pattern("A / B", "A / (B + 1e-8)", "A")
    >>> [ast.unparse(each) for each in rewrite(ast.parse("x / y[0]", mode="eval").body)]
    ['x / (y[0] + 1e-08)', 'x']
    """
    template, results = _expression(before), [_expression(text) for text in after]

    def rewrite(node: ast.AST) -> Iterable[ast.AST]:
        bound: dict[str, ast.AST] = {}
        return [filled(result, bound) for result in results] if matches(template, node, bound) else []

    return rewrite


def matches(template: object, node: object, bound: dict[str, ast.AST]) -> bool:
    """Whether a node has a template's form; what the wildcards stand for is noted."""
    if isinstance(template, ast.Name) and template.id in WILDCARDS and isinstance(node, ast.expr):
        known = bound.setdefault(template.id, node)
        return ast.dump(known) == ast.dump(node)
    if isinstance(template, ast.AST) and isinstance(node, ast.AST):
        same = type(template) is type(node)
        fields = [name for name in template._fields if name != "ctx"]
        return same and all(
            matches(getattr(template, f, None), getattr(node, f, None), bound) for f in fields
        )
    if isinstance(template, list) and isinstance(node, list):
        return len(template) == len(node) and all(map(lambda a, b: matches(a, b, bound), template, node))
    return type(template) is type(node) and template == node


def filled(template: ast.AST, bound: dict[str, ast.AST]) -> ast.AST:
    """The template with what its wildcards stand for."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return bound.get(node.id, node)

    return ast.parse(ast.unparse(Fill().visit(_copy(template))), mode="eval").body


def _copy(template: ast.AST) -> ast.AST:
    return ast.parse(ast.unparse(template), mode="eval").body


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
