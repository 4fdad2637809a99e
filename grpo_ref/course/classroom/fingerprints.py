"""The structure of an answer as a set of fingerprints that stay the same if its text is disguised."""

import ast
import builtins
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

LARGEST = 64 * 1024
"""Largest answer that is examined, in bytes. No honest answer is nearly as long."""
WINDOW = 6
"""Nodes of the syntax tree per fingerprint."""
SILENT = (ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal)
UNTOLD = (ast.expr_context, ast.alias, ast.operator, ast.stmt)
"""Nodes that carry no information about their parent."""
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of a statement that hold other statements."""
BUILTINS = frozenset(dir(builtins))


class Variable(NamedTuple):
    """A name that the student chose."""

    name: str


Token = object
"""A node of a syntax tree: its kind, a name that the student did not choose, a constant, or a Variable."""


def fingerprints(text: bytes) -> frozenset[int]:
    """Return hashes of all runs of six nodes within a statement of the normalized syntax tree.

    These make no difference: names of variables, functions and arguments, docstrings, comments, formatting,
    type hints, the names under which modules are imported, and the order of statements. These make a
    difference: constants, operators, and the names of modules, attributes and keywords. A variable is
    represented by its earlier positions in the run, after Baker 1995, On finding duplication and
    near-duplication in large software systems.

    Args:
      text: text of the answer.

    Returns:
      About as many hashes as the answer has nodes; none if the text is too large or is not Python. Hashes are
        comparable within one process only.

    >>> fingerprints(b"def f(x): return x * x + 1") == fingerprints(b"def g(y: int) -> int: return 1+y*y")
    True
    """
    statements = list(_statements(_parsed(text)))
    names = _imported(statements)
    found: set[int] = set()
    for statement in statements:
        if not _is_silent(statement):
            tokens = list(_tokens(statement, names))
            for begin in range(max(1, len(tokens) - WINDOW + 1)):
                found.add(hash(_renamed(tokens[begin : begin + WINDOW])))
    return frozenset(found)


def _parsed(text: bytes) -> ast.Module:
    """Return the syntax tree, or an empty one if the text cannot be parsed. Suppress Python's warnings."""
    empty = ast.Module([], [])
    if len(text) > LARGEST:
        return empty
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return empty


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield all statements, including nested ones."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.stmt):
            yield node
        for name in BLOCKS:
            left += getattr(node, name, ())


def _imported(statements: Iterable[ast.stmt]) -> Mapping[str, str]:
    """Return the imported object, with its module, for each name under which the file imports one."""
    found: dict[str, str] = {}
    for node in statements:
        if isinstance(node, ast.Import):
            found |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _is_silent(node: ast.stmt) -> bool:
    """Return whether a statement does nothing, such as a docstring or an import."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    is_hint = isinstance(node, ast.AnnAssign) and node.value is None
    return is_text or is_hint or isinstance(node, SILENT)


def _tokens(statement: ast.stmt, names: Mapping[str, str]) -> Iterator[Token]:
    """Yield the nodes of one statement from the outside in, without the statements inside it."""
    left: list[ast.AST] = [statement]
    while left:
        node = left.pop()
        token = _token(node, names)
        yield token
        if not isinstance(node, ast.Attribute) or token == f".{node.attr}":
            left += reversed([child for child in _children(node) if not isinstance(child, UNTOLD)])


def _children(node: ast.AST) -> list[ast.AST]:
    """Return the children of a node without type hints and type names; `x += y` counts as `x = x + y`."""
    if isinstance(node, ast.AugAssign):
        return [node.target, ast.BinOp(node.target, node.op, node.value)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        return sorted((node.left, node.right), key=_kind)
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return [node.target, node.value]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [*node.decorator_list, node.args]
    if isinstance(node, ast.arg):
        return []
    return list(ast.iter_child_nodes(node))


def _kind(node: ast.AST) -> str:
    """Return the key by which the operands of a sum or product are sorted."""
    called = node.func if isinstance(node, ast.Call) else node
    return f"{type(node).__name__} {getattr(called, 'attr', '')}"


def _token(node: ast.AST, names: Mapping[str, str]) -> Token:
    match node:
        case ast.Name(id=name):
            known = names.get(name) or (name if name in BUILTINS else "")
            return known or Variable(name)
        case ast.arg(arg=name):
            return Variable(name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in names:
            return f"{names[name]}.{attribute}"
        case ast.Attribute(attr=attribute):
            return f".{attribute}"
        case ast.keyword(arg=name):
            return f"{name}="
        case ast.Constant(value=value):
            return ("constant", value)
        case ast.BinOp(op=operator):
            return type(operator).__name__
        case ast.AnnAssign() | ast.AugAssign():
            return "Assign"
    return type(node).__name__


def _renamed(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Replace each variable by its number in the order of first occurrence."""
    variables = list(dict.fromkeys(token for token in tokens if isinstance(token, Variable)))
    numbers: dict[Token, Token] = {variable: number for number, variable in enumerate(variables)}
    return tuple(numbers.get(token, token) if isinstance(token, Variable) else token for token in tokens)
