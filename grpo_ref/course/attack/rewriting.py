"""Rewrite a program's syntax tree, one node at a time."""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

Rewrite = Callable[[ast.AST], Iterable[ast.AST]]
"""Returns the possible replacements of a node; none if the rule does not apply to it."""
WILDCARDS = frozenset("ABCD")


class Place(NamedTuple):
    """The position of a node in a syntax tree.

    Attributes:
      parent: the node above it.
      field: the field of the parent that holds the node.
      position: index in that field, or None if the field holds a single node.
    """

    parent: ast.AST
    field: str
    position: int | None

    def put(self, node: ast.AST) -> None:
        """Replace the node at this position."""
        if self.position is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.position] = node


def places(tree: ast.AST) -> Iterator[tuple[Place, ast.AST]]:
    """Yield every node below a tree with its position, in the order of the text."""
    for field, value in ast.iter_fields(tree):
        items = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, node in items:
            if isinstance(node, ast.AST):
                yield Place(tree, field, index), node
                yield from places(node)


def rewritten(tree: ast.AST, whole: ast.AST, rewrite: Rewrite) -> Iterator[str]:
    """Yield the text of the whole program for each node below the tree and each of its replacements."""
    for place, node in list(places(tree)):
        for other in rewrite(node):
            place.put(other)
            try:
                yield ast.unparse(ast.fix_missing_locations(whole))
            finally:
                place.put(node)


def pattern(before: str, *after: str) -> Rewrite:
    """Return a rule on expressions, in which A, B, C and D match any expression.

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
    """Return whether a node has a template's form, and record the expressions that the wildcards match."""
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
    """Return the template with its wildcards replaced by the matched expressions."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return bound.get(node.id, node)

    return ast.parse(ast.unparse(Fill().visit(_copy(template))), mode="eval").body


def _copy(template: ast.AST) -> ast.AST:
    return ast.parse(ast.unparse(template), mode="eval").body


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
