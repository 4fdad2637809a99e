"""What of a program some of its names need: the statements that make them, and what those read, and so on."""

import ast
import symtable
from collections.abc import Iterable, Iterator, Mapping, Sequence

CHOICES, LOOPS = (ast.If, ast.Try, ast.With), (ast.For, ast.While)
"""Statements that hold others and make no name space of their own."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
ALWAYS = frozenset(("*", "annotations"))
"""What is bound by an import whose effect reaches everything."""


def needed(nodes: Sequence[ast.stmt], asked: Iterable[str]) -> list[ast.stmt]:
    """The statements that give what is asked for, those that give what they read, and so on, in their order.

    A number that a function reads may come from a call, as in `EPS = np.finfo(float).eps`; but a function's
    own result does not take its place, as in `k3 = k3(1, 2)`. Where nothing that is asked for is there, these
    are all definitions.
    """
    changed = {node.name: _changed_by(node) for node in nodes if isinstance(node, FUNCTIONS)}
    imported = set().union(*(given(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)))
    gives = [
        given(node, changed) - (imported if isinstance(node, ast.Expr) else _own_results(node))
        for node in nodes
    ]
    reads = [_read(node) for node in nodes]
    roots = set(asked) & set().union(*gives)
    kept = [not names.isdisjoint(ALWAYS) for names in gives] if roots else list(map(_is_definition, nodes))
    while True:
        used = roots.union(*(names for names, keep in zip(reads, kept, strict=True) if keep))
        more = [keep or not used.isdisjoint(names) for keep, names in zip(kept, gives, strict=True)]
        if more == kept:
            return [node for node, keep in zip(nodes, kept, strict=True) if keep]
        kept = more


def given(node: ast.stmt, changed: Mapping[str, set[str]] | None = None) -> set[str]:
    r"""The names that a statement of a module binds, or whose values it may change.

    Args:
      node: the statement.
      changed: name of a function of the program -> names of the program whose values it may change.

    >>> program = "import a.b, c as d\nx.y[z] = 1\nx.append(1)\nf(x)\nfor i in x: t += i\n@f\ndef g(): pass"
    >>> [sorted(given(node, {"f": {"all"}})) for node in ast.parse(program).body]
    [['a', 'd'], ['x'], ['x'], ['all'], ['i', 't'], ['all', 'f', 'g']]
    """
    changed = changed or {}
    if isinstance(node, CHOICES + LOOPS):
        return _headed(node).union(*(given(each, changed) for each in _inner(node)))
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {each.asname or each.name.partition(".")[0] for each in node.names}
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        told = [*node.decorator_list, *(node.bases if isinstance(node, ast.ClassDef) else ())]
        names = set().union(*(_bases(each.func if isinstance(each, ast.Call) else each) for each in told))
        return {node.name, *names}.union(*(changed.get(name, ()) for name in names))
    if isinstance(node, ast.Assign | ast.Delete):
        return set().union(*map(_bases, node.targets))
    if isinstance(node, ast.AnnAssign | ast.AugAssign):
        return _bases(node.target)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        return _bases(called) if isinstance(called, ast.Attribute) else changed.get(_name(called), set())
    return set()


def _bases(target: ast.expr) -> set[str]:
    """The names at the beginning of what is assigned to, as in `name.part[0]`."""
    if isinstance(target, ast.Tuple | ast.List):
        return set().union(*map(_bases, target.elts))
    while isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
        target = target.value
    return {_name(target)} - {""}


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _own_results(node: ast.stmt) -> set[str]:
    """The names that a statement would replace by what a call of themselves returns."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        return set().union(*map(_bases, node.targets)) & {_name(node.value.func)}
    return set()


def _changed_by(function: ast.stmt) -> set[str]:
    """The module's names whose values a function may change."""
    inside = (each for each in ast.walk(function) if isinstance(each, ast.stmt) and each is not function)
    return set().union(*map(given, inside)) & _read(function)


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


def _is_definition(node: ast.stmt) -> bool:
    """An import, function or class, a value made without a call, or a choice between such."""
    if isinstance(node, CHOICES):
        return all(_is_definition(each) or isinstance(each, ast.Pass) for each in _inner(node))
    if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return True
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    return isinstance(node.value, ast.Lambda) or not any(
        isinstance(each, ast.Call) for each in ast.walk(node)
    )


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
