"""What of a program some of its names need: the statements that make them, and what those read, and so on."""

import ast
import symtable
from collections.abc import Iterable, Iterator, Sequence

CHOICES, LOOPS = (ast.If, ast.Try, ast.With), (ast.For, ast.While)
"""Statements that hold others and make no name space of their own."""
ALWAYS = frozenset(("*", "annotations"))
"""What is bound by an import whose effect reaches everything."""


def needed(nodes: Sequence[ast.stmt], asked: Iterable[str]) -> list[ast.stmt]:
    """The statements that give what is asked for, those that give what they read, and so on, in their order.

    A number that a function reads may come from a call, as in `EPS = np.finfo(float).eps`; but the result of
    a call does not take the place of a function, a class or a module of the same name. Where nothing that is
    asked for is there, these are all definitions.
    """
    is_definition = list(map(_is_definition, nodes))
    lasting = {name for node in nodes if _lasts(node) for name in given(node)}
    gives = [
        given(node) if is_one else given(node) - lasting
        for node, is_one in zip(nodes, is_definition, strict=True)
    ]
    reads = [_read(node) for node in nodes]
    roots = set(asked) & set().union(*gives)
    kept = [not names.isdisjoint(ALWAYS) for names in gives] if roots else is_definition
    while True:
        used = roots.union(*(names for names, keep in zip(reads, kept, strict=True) if keep))
        more = [keep or not used.isdisjoint(names) for keep, names in zip(kept, gives, strict=True)]
        if more == kept:
            return [node for node, keep in zip(nodes, kept, strict=True) if keep]
        kept = more


def given(node: ast.stmt) -> set[str]:
    r"""The names that a statement of a module binds, or whose values it may change.

    >>> program = "import a.b, c as d\nx.y[z] = 1\nx.append(1)\nprint(x)\nfor i in x: t += i"
    >>> [sorted(given(node)) for node in ast.parse(program).body]
    [['a', 'd'], ['x'], ['x'], [], ['i', 't']]
    """
    if isinstance(node, CHOICES + LOOPS):
        return _headed(node).union(*map(given, _inner(node)))
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {each.asname or each.name.partition(".")[0] for each in node.names}
    if isinstance(node, ast.Assign):
        return set().union(*map(_bases, node.targets))
    if isinstance(node, ast.AnnAssign | ast.AugAssign):
        return _bases(node.target)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return _bases(node.value.func) if isinstance(node.value.func, ast.Attribute) else set()
    return set()


def _bases(target: ast.expr) -> set[str]:
    """The names at the beginning of what is assigned to, as in `name.part[0]`."""
    if isinstance(target, ast.Tuple | ast.List):
        return set().union(*map(_bases, target.elts))
    while isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
        target = target.value
    return {target.id} if isinstance(target, ast.Name) else set()


def _headed(node: ast.stmt) -> set[str]:
    """The names that the first line of a block binds."""
    if isinstance(node, ast.For):
        return _bases(node.target)
    if isinstance(node, ast.With):
        return set().union(*(_bases(each.optional_vars) for each in node.items if each.optional_vars))
    return set()


def _inner(node: ast.stmt) -> Iterator[ast.stmt]:
    """The statements of all branches of a block."""
    for branch in ("body", "orelse", "finalbody"):
        yield from getattr(node, branch, ())
    for handler in getattr(node, "handlers", ()):
        yield from handler.body


def _lasts(node: ast.stmt) -> bool:
    """Whether it defines functions or classes or imports modules, or may do so."""
    if isinstance(node, CHOICES):
        return _is_definition(node) and any(map(_lasts, _inner(node)))
    if isinstance(node, ast.Assign):
        return isinstance(node.value, ast.Lambda)
    return isinstance(
        node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    )


def _is_definition(node: ast.stmt) -> bool:
    """An import, function or class, a value made without a call, or a block of nothing but such."""
    if isinstance(node, CHOICES):
        return all(_is_definition(each) or isinstance(each, ast.Pass) for each in _inner(node))
    if _lasts(node):
        return True
    calls = any(isinstance(each, ast.Call) for each in ast.walk(node))
    return isinstance(node, ast.Assign | ast.AnnAssign) and not calls


def _read(node: ast.stmt) -> set[str]:
    """The module's names that a statement reads, in its functions too, without those that it binds itself."""
    tables = [symtable.symtable(ast.unparse(node), "program", "exec")]
    names = set()
    for table in tables:
        tables += table.get_children()
        is_module = table.get_type() == "module"
        names |= {
            each.get_name()
            for each in table.get_symbols()
            if (is_module and each.is_referenced()) or (not is_module and each.is_global())
        }
    return names - _headed(node)
